//! Query parameters, each at most once. Unknown ones are passed over.

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;

use crate::problem::Refusal;

/// The parameters of a request, repeats included.
#[derive(Debug)]
pub(crate) struct Parameters(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Parameters {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let wrong = |error: QueryRejection| Refusal::invalid("query", error.body_text());
        Query::try_from_uri(&parts.uri).map(|Query(parameters)| Self(parameters)).map_err(wrong)
    }
}

impl Parameters {
    /// The parameter of this name.
    pub(crate) fn one(&self, name: &str) -> Result<Option<&str>, Refusal> {
        let mut values = self.0.iter().filter(|(given, _)| given == name).map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            (_, Some(_)) => Err(Refusal::invalid(name, "is there twice")),
        }
    }
}

/// A number written in digits alone: no sign, no space.
pub(crate) fn whole_number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_alone() {
        assert_eq!((whole_number("0"), whole_number("050")), (Some(0), Some(50)));
        for text in ["", "+5", "-5", " 5", "5 ", "1.0", "٥", "99999999999999999999"] {
            assert_eq!(whole_number(text), None, "{text:?}");
        }
    }

    #[tokio::test]
    async fn a_parameter_is_there_once() {
        let request = axum::http::Request::get("/?a=1&b=2&b=2&c").body(()).unwrap();
        let parameters = Parameters::from_request_parts(&mut request.into_parts().0, &()).await.unwrap();
        assert_eq!(parameters.one("a").unwrap(), Some("1"));
        assert_eq!(parameters.one("c").unwrap(), Some(""));
        assert_eq!(parameters.one("d").unwrap(), None);
        assert_eq!(parameters.one("b").unwrap_err().0.errors[0].field, "b");
    }
}
