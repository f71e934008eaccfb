//! Bodies that are too large, broken, or not a ticket request.

use super::{Case, GOOD, assert_refused};

/// The bound on bodies, in bytes.
const BOUND: usize = 16 * 1024;

/// A good body of this many bytes.
fn padded(bytes: usize) -> String {
    format!("{}{GOOD}", " ".repeat(bytes - GOOD.len()))
}

#[tokio::test]
async fn bodies_at_the_bound_pass_and_larger_ones_do_not() {
    let app = crate::app::App::start().await;
    let headers = [("content-type", "application/json")];
    let at_the_bound = padded(BOUND);
    let ana = app.user("ana");
    let send = ana.try_send(hyper::Method::POST, "/v1/tickets", &headers, at_the_bound.as_bytes());
    assert_eq!(send.await.unwrap().status, 201);
    drop(app);

    let chunk = |body: &str| format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let too_large = |name: &str| Case::press(name, 413, "too-large", &["body"]);
    let mut chunked = too_large("chunked, without a length").header("Transfer-Encoding", "chunked");
    chunked.body = chunk(&padded(BOUND + 1)).into_bytes();
    let mut large_chunked = too_large("1 MiB, chunked").header("Transfer-Encoding", "chunked");
    large_chunked.body = chunk(&padded(1 << 20)).into_bytes();
    let mut announced = too_large("only announced").header("Content-Length", "100000000000");
    announced.body = GOOD.as_bytes().to_vec();
    assert_refused(&[
        too_large("one byte more").body(padded(BOUND + 1)),
        too_large("1 MiB").body(padded(1 << 20)),
        chunked,
        large_chunked,
        announced,
    ])
    .await;
}

#[tokio::test]
async fn bodies_that_are_no_json_object_are_refused() {
    let nested = |open: &str, close: &str, depth: usize| {
        format!(r#"{{"region":"kr","interests":{}1{}}}"#, open.repeat(depth), close.repeat(depth))
    };
    let cases = [
        ("empty", String::new()),
        ("white space", " \n\t ".to_owned()),
        ("words", "jazz please".to_owned()),
        ("cut off", GOOD[..20].to_owned()),
        ("a trailing comma", r#"{"region":"kr","interests":["jazz"],}"#.to_owned()),
        ("something after it", format!("{GOOD} x")),
        ("two of them", format!("{GOOD}{GOOD}")),
        ("single quotes", GOOD.replace('"', "'")),
        ("NaN", r#"{"region":"kr","interests":NaN}"#.to_owned()),
        ("a control character in a text", "{\"region\":\"kr\",\"interests\":[\"ja\nzz\"]}".to_owned()),
        ("half a surrogate pair", r#"{"region":"kr","interests":["\ud800"]}"#.to_owned()),
        ("null", "null".to_owned()),
        ("a list", format!("[{GOOD}]")),
        ("a text", format!("{GOOD:?}")),
        ("a number", "42".to_owned()),
        ("form data", "region=kr&interests=jazz".to_owned()),
        ("deep lists", nested("[", "]", 5_000)),
        ("deep objects", nested(r#"{"a":"#, "}", 2_000)),
        ("a byte order mark", format!("\u{feff}{GOOD}")),
    ];
    let mut cases: Vec<_> = cases.map(|(name, body)| Case::press_body(name, body, 400, &["body"])).into();
    let invalid_utf8 = [&GOOD.as_bytes()[..35], b"\xff\xfe", &GOOD.as_bytes()[35..]].concat();
    cases.push(Case::press_body("invalid UTF-8", invalid_utf8, 400, &["body"]));
    let mut no_length = Case::press_body("no body and no length", "", 400, &["body"]);
    no_length.headers.retain(|(name, _)| name != "Content-Length");
    cases.push(no_length);
    assert_refused(&cases).await;
}

#[tokio::test]
async fn a_body_that_breaks_off_is_refused() {
    let half = |name: &str, header: (&str, &str), body: &str| {
        let mut case = Case::press(name, 400, "invalid-request", &["body"]).header(header.0, header.1);
        case.body = body.as_bytes().to_vec();
        case.half_close = true;
        case
    };
    let length = (GOOD.len() + 1).to_string();
    assert_refused(&[
        half("shorter than its length", ("Content-Length", "1000"), r#"{"region":"#),
        half("a whole object, shorter than its length", ("Content-Length", &length), GOOD),
        half("a chunk that ends early", ("Transfer-Encoding", "chunked"), "ff\r\n{\"region\":"),
        half("no last chunk", ("Transfer-Encoding", "chunked"), &format!("{:x}\r\n{GOOD}\r\n", GOOD.len())),
        half("a chunk without a size", ("Transfer-Encoding", "chunked"), "xyz\r\n{}\r\n0\r\n\r\n"),
    ])
    .await;
}

#[tokio::test]
async fn members_that_are_missing_unknown_or_repeated_are_named() {
    let case = |name: &str, body: &str, fields: &[&str]| Case::press_body(name, body, 422, fields);
    assert_refused(&[
        case("nothing", "{}", &["region", "interests"]),
        case("no region", r#"{"interests":["jazz"]}"#, &["region"]),
        case("no interests", r#"{"region":"kr"}"#, &["interests"]),
        case("null", r#"{"region":null,"interests":null}"#, &["region", "interests"]),
        case("unknown", r#"{"region":"kr","interests":["jazz"],"age":7}"#, &["age"]),
        case("other capitals", r#"{"Region":"kr","interests":["jazz"]}"#, &["Region", "region"]),
        case("repeated region", r#"{"region":"kr","region":"kr","interests":["jazz"]}"#, &["region"]),
        case("repeated interests", r#"{"interests":["a"],"region":"kr","interests":["a"]}"#, &["interests"]),
        case("repeated by an escape", r#"{"region":"kr","\u0072egion":"jp","interests":["a"]}"#, &["region"]),
        case("a region that is a number", r#"{"region":82,"interests":["jazz"]}"#, &["region"]),
        case("a region that is a list", r#"{"region":["kr"],"interests":["jazz"]}"#, &["region"]),
        case("interests that are a text", r#"{"region":"kr","interests":"jazz"}"#, &["interests"]),
        case("interests that are an object", r#"{"region":"kr","interests":{"0":"jazz"}}"#, &["interests"]),
        case(
            "interests that are no texts",
            r#"{"region":"kr","interests":["a",1,null,["b"],true]}"#,
            &["interests[1]", "interests[2]", "interests[3]", "interests[4]"],
        ),
        case("all at once", r#"{"x":1,"region":"KR","interests":[7]}"#, &["x", "region", "interests[0]"]),
    ])
    .await;
}

#[tokio::test]
async fn regions_that_are_none_are_refused() {
    let (long, many) = ("a".repeat(33), "a.".repeat(2_000));
    let regions = [
        "",
        " ",
        ".",
        "kr.",
        ".kr",
        "kr..seoul",
        "a.b.c.d.e",
        "KR",
        "kr seoul",
        "kr.seoul ",
        "서울",
        "kr_seoul",
        "kr/seoul",
        "kr.seoul\\u0000",
        "kr\\n",
        "ｋｒ",
        "%6br",
        &long,
        &many,
    ];
    let case = |region: &&str| {
        let body = format!(r#"{{"region":"{region}","interests":["jazz"]}}"#);
        Case::press_body(&format!("region {region:?}"), body, 422, &["region"])
    };
    assert_refused(&regions.iter().map(case).collect::<Vec<_>>()).await;
}
