//! Traces: the match requests to play, one JSON a line.
//!
//! Everything is checked while reading, so that a run never stops half-way over a bad line.

use std::io::{BufRead, Write};
use std::path::Path;

use proto::{InterestSet, Region, UserId};
use serde::Serialize;
use serde_json::{Map, Value};

/// One press of the match button.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Request {
    /// When, in milliseconds from the start of the trace.
    pub at_ms: u64,
    /// Who.
    pub user: UserId,
    /// Where they are.
    pub region: Region,
    /// What they like.
    pub interests: InterestSet,
}

/// A trace: at least one request, ordered by time. Requests of one moment keep the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace(Vec<Request>);

/// Why a trace cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("cannot read it: {0}")]
    Read(#[from] std::io::Error),
    /// It holds no request.
    #[error("it holds no request")]
    Empty,
    /// A line is not a JSON object.
    #[error("line {line}: not a JSON object: {why}")]
    Syntax {
        /// Which line, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// A member of a line is missing or wrong.
    #[error("line {line}: {field}: {why}")]
    Field {
        /// Which line, from 1.
        line: usize,
        /// Which member.
        field: &'static str,
        /// What is wrong.
        why: String,
    },
}

impl Trace {
    /// Takes requests and puts them in order.
    ///
    /// # Errors
    /// When there are none.
    pub fn new(mut requests: Vec<Request>) -> Result<Self, TraceError> {
        if requests.is_empty() {
            return Err(TraceError::Empty);
        }
        requests.sort_by_key(|request| request.at_ms);
        Ok(Self(requests))
    }

    /// Reads a trace file.
    ///
    /// # Errors
    /// When it cannot be read, is empty, or a line is wrong: the first such line is named.
    pub fn load(path: &Path) -> Result<Self, TraceError> {
        Self::read(std::io::BufReader::new(std::fs::File::open(path)?))
    }

    /// Reads a trace. Empty lines are skipped.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn read(from: impl BufRead) -> Result<Self, TraceError> {
        let mut requests = Vec::new();
        for (at, text) in from.lines().enumerate() {
            let text = text?;
            if !text.trim().is_empty() {
                requests.push(parse_line(at + 1, &text)?);
            }
        }
        Self::new(requests)
    }

    /// Writes the trace, one JSON a line.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(&self, to: &mut impl Write) -> std::io::Result<()> {
        for request in &self.0 {
            serde_json::to_writer(&mut *to, request)?;
            to.write_all(b"\n")?;
        }
        Ok(())
    }

    /// The same requests, `speed` times as dense in time (whole milliseconds, rounded).
    #[must_use]
    pub fn sped_up(mut self, speed: f64) -> Self {
        for request in &mut self.0 {
            // The cast saturates: a trace slowed beyond all time ends at its end.
            #[allow(clippy::cast_sign_loss, reason = "no time of a trace is negative")]
            let at_ms = (request.at_ms as f64 / speed).round() as u64;
            request.at_ms = at_ms;
        }
        self
    }

    /// The requests, ordered by time.
    pub fn requests(&self) -> &[Request] {
        &self.0
    }

    /// How long after the start the last request comes, in milliseconds.
    pub fn last_ms(&self) -> u64 {
        self.0.last().map_or(0, |request| request.at_ms)
    }
}

fn parse_line(line: usize, text: &str) -> Result<Request, TraceError> {
    let members: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| TraceError::Syntax { line, why: error.to_string() })?;
    let wrong = |field, why: String| TraceError::Field { line, field, why };
    let member = |field| members.get(field).ok_or_else(|| wrong(field, "is missing".to_owned()));
    let string = |field| {
        member(field)?.as_str().ok_or_else(|| wrong(field, format!("is not a string: {}", members[field])))
    };

    let at_ms = member("at_ms")?
        .as_u64()
        .ok_or_else(|| wrong("at_ms", format!("is not a whole number from 0: {}", members["at_ms"])))?;
    let user = UserId::new(string("user")?).map_err(|why| wrong("user", why.to_string()))?;
    let region = string("region")?
        .parse()
        .map_err(|why: proto::InvalidRegion| wrong("region", format!("{why}, not {}", members["region"])))?;
    let texts = member("interests")?
        .as_array()
        .and_then(|list| list.iter().map(Value::as_str).collect::<Option<Vec<_>>>())
        .ok_or_else(|| wrong("interests", "is not a list of strings".to_owned()))?;
    let interests = InterestSet::new(&texts).map_err(|why| wrong("interests", why.to_string()))?;
    Ok(Request { at_ms, user, region, interests })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"at_ms":7,"user":"ana","region":"kr.seoul","interests":["Pop","jazz"]}"#;

    #[test]
    fn bad_lines_name_line_and_field() {
        for (bad, named) in [
            ("{", "line 2: not a JSON object"),
            ("[1]", "line 2: not a JSON object"),
            (r#"{"user":"a","region":"kr","interests":["x"]}"#, "line 2: at_ms: is missing"),
            (r#"{"at_ms":-1,"user":"a","region":"kr","interests":["x"]}"#, "line 2: at_ms: "),
            (r#"{"at_ms":1.5,"user":"a","region":"kr","interests":["x"]}"#, "line 2: at_ms: "),
            (r#"{"at_ms":1,"user":5,"region":"kr","interests":["x"]}"#, "line 2: user: is not a string: 5"),
            (r#"{"at_ms":1,"user":"","region":"kr","interests":["x"]}"#, "line 2: user: "),
            (r#"{"at_ms":1,"user":"a","region":"KR","interests":["x"]}"#, "line 2: region: "),
            (r#"{"at_ms":1,"user":"a","region":"kr","interests":"x"}"#, "line 2: interests: "),
            (r#"{"at_ms":1,"user":"a","region":"kr","interests":["x",1]}"#, "line 2: interests: "),
            (r#"{"at_ms":1,"user":"a","region":"kr","interests":["x"," "]}"#, "interests[1]: "),
            (r#"{"at_ms":1,"user":"a","region":"kr","interests":[]}"#, "line 2: interests: "),
        ] {
            let error = Trace::read(format!("{GOOD}\n{bad}\n").as_bytes()).unwrap_err().to_string();
            assert!(error.contains(named), "{bad} gave {error:?}");
        }
        assert!(matches!(Trace::read("\n\n".as_bytes()), Err(TraceError::Empty)));
    }

    #[test]
    fn requests_are_ordered_by_time_and_ties_keep_their_order() {
        let line = |at, user| {
            format!("{{\"at_ms\":{at},\"user\":\"{user}\",\"region\":\"kr\",\"interests\":[\"x\"]}}\n")
        };
        let text = [line(9, "late"), line(3, "first"), "\n".to_owned(), line(3, "second")].concat();
        let trace = Trace::read(text.as_bytes()).unwrap();
        let users: Vec<_> = trace.requests().iter().map(|r| r.user.as_str()).collect();
        assert_eq!((users, trace.last_ms()), (vec!["first", "second", "late"], 9));
    }

    #[test]
    fn a_trace_played_faster_keeps_its_order_and_everything_else() {
        let line = |at, user| {
            format!("{{\"at_ms\":{at},\"user\":\"{user}\",\"region\":\"kr\",\"interests\":[\"x\"]}}\n")
        };
        let trace =
            Trace::read([line(0, "a"), line(1_000, "b"), line(1_004, "c")].concat().as_bytes()).unwrap();
        let times = |trace: &Trace| trace.requests().iter().map(|r| r.at_ms).collect::<Vec<_>>();
        assert_eq!(times(&trace.clone().sped_up(10.0)), [0, 100, 100]);
        assert_eq!(times(&trace.clone().sped_up(0.1)), [0, 10_000, 10_040]);
        assert_eq!(trace.clone().sped_up(1.0), trace);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let trace = Trace::read(GOOD.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        trace.write(&mut bytes).unwrap();
        assert_eq!(Trace::read(bytes.as_slice()).unwrap(), trace);
    }
}
