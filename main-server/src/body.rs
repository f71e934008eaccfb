//! Reads and checks the body of a ticket request, naming every part that is wrong.

use std::fmt;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::http::{HeaderMap, StatusCode, header};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use proto::{FieldError, InterestSet, InvalidInterestSet, Problem, ProblemType, Region};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::problem::Refusal;

/// The largest body, in bytes.
const MAX_BODY: usize = 16 * 1024;
/// How long a body may take to arrive: ample for 16 KiB over a bad line, and a bound on what a silent caller holds.
const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// What a ticket request asks for.
#[derive(Debug)]
pub(crate) struct Wish {
    pub(crate) region: Region,
    pub(crate) interests: InterestSet,
}

/// Reads a ticket request.
pub(crate) async fn read_wish(headers: &HeaderMap, body: Body) -> Result<Wish, Refusal> {
    check_content_type(headers)?;
    let bytes = read_body(body).await?;
    parse_wish(&bytes)
}

fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let mut refusal = Refusal::invalid("Content-Type", "must be application/json");
    refusal.0.status = StatusCode::UNSUPPORTED_MEDIA_TYPE.as_u16();
    Err(refusal)
}

async fn read_body(body: Body) -> Result<Bytes, Refusal> {
    // What says that it is too large is not waited for.
    if body.size_hint().lower() > MAX_BODY as u64 {
        return Err(too_large());
    }
    match tokio::time::timeout(BODY_DEADLINE, Limited::new(body, MAX_BODY).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(bad_request("the body ended before it was complete")),
        Err(_) => {
            let late = format!("must arrive within {} seconds", BODY_DEADLINE.as_secs());
            Err(Refusal(bad_request(late).0.with_status(StatusCode::REQUEST_TIMEOUT.as_u16())))
        }
    }
}

fn too_large() -> Refusal {
    let refusal = Refusal::new(ProblemType::TooLarge, "Send a smaller body.");
    Refusal(refusal.0.with_error("body", format!("must be at most {MAX_BODY} bytes")))
}

fn bad_request(message: impl Into<String>) -> Refusal {
    let mut refusal = Refusal::invalid("body", message);
    refusal.0.status = StatusCode::BAD_REQUEST.as_u16();
    refusal
}

/// The members of a JSON object in their order, repeats included.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with the members region and interests")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::with_capacity(2);
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

fn parse_wish(bytes: &[u8]) -> Result<Wish, Refusal> {
    let Members(members) = serde_json::from_slice(bytes).map_err(|error| {
        bad_request(format!("must be JSON, {{\"region\": …, \"interests\": […]}}: {error}"))
    })?;
    let mut errors = Errors::default();
    let (mut region, mut interests) = (None, None);
    for (name, value) in members {
        match name.as_str() {
            "region" if region.is_none() => region = Some(value),
            "interests" if interests.is_none() => interests = Some(value),
            "region" | "interests" => errors.add(name, "is there twice"),
            _ => errors.add(name, "is not a member of a ticket request; send region and interests"),
        }
    }
    let region = parse_region(region, &mut errors);
    let interests = parse_interests(interests, &mut errors);
    match (region, interests) {
        (Some(region), Some(interests)) if errors.0.is_empty() => Ok(Wish { region, interests }),
        _ => Err(errors.into_refusal()),
    }
}

fn parse_region(value: Option<Value>, errors: &mut Errors) -> Option<Region> {
    match value {
        None => errors.add("region", "is missing: a dotted path, widest label first, such as kr.seoul"),
        Some(Value::String(text)) => match text.parse() {
            Ok(region) => return Some(region),
            Err(error) => errors.add("region", format!("{error}")),
        },
        Some(_) => errors.add("region", "must be text"),
    }
    None
}

fn parse_interests(value: Option<Value>, errors: &mut Errors) -> Option<InterestSet> {
    let items = match value {
        None => {
            errors.add("interests", "is missing: a list of 1 to 64 texts");
            return None;
        }
        Some(Value::Array(items)) => items,
        Some(_) => {
            errors.add("interests", "must be a list of texts");
            return None;
        }
    };
    let mut texts = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        match item {
            Value::String(text) => texts.push(text.as_str()),
            _ => errors.add(format!("interests[{at}]"), "must be text"),
        }
    }
    if texts.len() < items.len() {
        return None;
    }
    match InterestSet::new(&texts) {
        Ok(set) => return Some(set),
        Err(InvalidInterestSet::Interests(bad)) => {
            for (at, error) in bad {
                errors.add(format!("interests[{at}]"), error.to_string());
            }
        }
        Err(error @ InvalidInterestSet::Count) => errors.add("interests", error.to_string()),
    }
    None
}

/// The most errors that one answer names.
const MAX_ERRORS: usize = 16;
/// The longest name of a member that an answer repeats, in characters.
const MAX_NAME: usize = 64;

#[derive(Default)]
struct Errors(Vec<FieldError>);

impl Errors {
    fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        if self.0.len() < MAX_ERRORS {
            let field = field.into().chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
            self.0.push(FieldError { field, message: message.into() });
        }
    }

    fn into_refusal(self) -> Refusal {
        let mut problem = Problem::new(
            ProblemType::InvalidRequest,
            "Mend what is named in `errors`, then send the request again.",
        );
        problem.errors = self.0;
        Refusal(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::stream::{self, StreamExt};

    fn chunks(count: usize) -> impl stream::Stream<Item = Result<Bytes, std::io::Error>> {
        stream::iter((0..count).map(|_| Ok(Bytes::from_static(&[b' '; 1024]))))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_is_refused_in_the_end() {
        let silent = Body::from_stream(chunks(1).chain(stream::pending()));
        let Refusal(problem) = read_body(silent).await.unwrap_err();
        assert_eq!((problem.status, problem.errors[0].field.as_str()), (408, "body"));
    }

    #[tokio::test]
    async fn the_bound_holds_with_and_without_a_length() {
        assert_eq!(read_body(Body::from_stream(chunks(16))).await.unwrap().len(), MAX_BODY);
        let unending = chunks(17).chain(stream::pending());
        for body in [Body::from_stream(unending), Body::from(vec![b' '; MAX_BODY + 1])] {
            assert_eq!(read_body(body).await.unwrap_err().0.kind, ProblemType::TooLarge);
        }
    }
}
