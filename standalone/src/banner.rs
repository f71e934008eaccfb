//! What a newcomer sees: where it listens, and three lines to paste.

use std::io::Write as _;
use std::net::SocketAddr;

use store::SqliteLocation;

/// Says where the API is and how to match two people by hand.
///
/// The two users are new at each start (`start` is unlike any other's), since people who met do not meet again for a day.
pub(crate) fn print(listen: SocketAddr, admin: SocketAddr, location: &SqliteLocation, start: &str) {
    let kept = match location {
        SqliteLocation::Memory => "in memory, gone when it stops".to_owned(),
        SqliteLocation::File(path) => path.display().to_string(),
    };
    let suffix = &start[start.len() - 4..];
    let press = |user: &str| {
        format!(
            "curl -s http://{listen}/v1/tickets -H 'Authorization: Bearer dev.{user}-{suffix}' \
             -H 'Content-Type: application/json' -d '{{\"region\":\"kr.seoul\",\"interests\":[\"jazz\",\"board games\"]}}'; echo"
        )
    };
    let mut out = std::io::stdout().lock();
    // Whoever started it may not read: that is no reason to stop.
    let _ = writeln!(out, "Dovetail listens on http://{listen}  (admin: http://{admin}, data: {kept})\n");
    let _ = writeln!(out, "Two people press match, then both read who they met:\n");
    let _ = writeln!(out, "{}", press("ana"));
    let _ = writeln!(out, "{}", press("bo"));
    let _ = writeln!(
        out,
        "sleep 1; for user in ana bo; do curl -s http://{listen}/v1/tickets/current -H \"Authorization: Bearer dev.$user-{suffix}\"; echo; done\n"
    );
}
