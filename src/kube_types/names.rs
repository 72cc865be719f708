//! The naming rules that Kubernetes shares between fields: labels, subdomains, qualified names.
//!
//! Each function gives back every message that applies, in the API server's order; none means valid.
//! Lengths are counted in bytes. Source: kubernetes v1.37.2 `apimachinery/pkg/util/validation`.
//! Parity: exact.

use std::borrow::Cow;

/// The messages of one check; empty when the value is valid.
pub type Messages = Vec<Cow<'static, str>>;

const LABEL_TEXT: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_TEXT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const SEARCH_TEXT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
const NAME_PART_TEXT: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const KEY_SHAPE_TEXT: &str = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
const LABEL_VALUE_TEXT: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const CONFIG_KEY_TEXT: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const ENV_NAME_TEXT: &str =
    "a valid environment variable name must consist only of printable ASCII characters other than '='";

/// `must be greater than or equal to 0`.
pub const NON_NEGATIVE: &str = "must be greater than or equal to 0";

fn lower_alnum(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit()
}

/// Whether `s` starts and ends with an alphanumeric, with only those and `inner` between.
fn framed(s: &[u8], alnum: fn(u8) -> bool, inner: &[u8]) -> bool {
    let (Some(first), Some(last)) = (s.first(), s.last()) else { return false };
    alnum(*first) && alnum(*last) && s.iter().all(|b| alnum(*b) || inner.contains(b))
}

fn is_label_shape(s: &str) -> bool {
    framed(s.as_bytes(), lower_alnum, b"-")
}

fn is_subdomain_shape(s: &str) -> bool {
    s.split('.').all(is_label_shape)
}

fn is_search_label(s: &str) -> bool {
    let rest = s.strip_prefix('_').unwrap_or(s);
    framed(rest.as_bytes(), lower_alnum, b"-_")
}

fn is_name_part_shape(s: &str) -> bool {
    framed(s.as_bytes(), |b| b.is_ascii_alphanumeric(), b"-_.")
}

/// LABEL: an RFC 1123 label.
pub fn label(s: &str) -> Messages {
    let mut out = Messages::new();
    if s.len() > 63 {
        out.push(Cow::Borrowed("must be no more than 63 characters"));
    }
    if !is_label_shape(s) {
        out.push(Cow::Borrowed(if is_subdomain_shape(s) { "must not contain dots" } else { LABEL_TEXT }));
    }
    out
}

/// SUBDOMAIN: an RFC 1123 subdomain.
pub fn subdomain(s: &str) -> Messages {
    let mut out = Messages::new();
    if s.len() > 253 {
        out.push(Cow::Borrowed("must be no more than 253 characters"));
    }
    if !is_subdomain_shape(s) {
        out.push(Cow::Borrowed(SUBDOMAIN_TEXT));
    }
    out
}

/// SUBDOMAIN for a prefix to which more is going to be added: a trailing dash is masked.
pub fn subdomain_prefix(s: &str) -> Messages {
    if s.len() > 1 && s.ends_with('-') {
        let mut masked = String::from_utf8_lossy(&s.as_bytes()[..s.len() - 2]).into_owned();
        masked.push('a');
        return subdomain(&masked);
    }
    subdomain(s)
}

/// SEARCH: a DNS search path.
pub fn search_domain(s: &str) -> Messages {
    let mut out = Messages::new();
    if s.len() > 253 {
        out.push(Cow::Borrowed("must be no more than 253 characters"));
    }
    if !s.split('.').all(is_search_label) {
        out.push(Cow::Borrowed(SEARCH_TEXT));
    }
    out
}

/// KEY: a qualified name, such as a label key.
pub fn qualified_name(s: &str) -> Messages {
    let mut out = Messages::new();
    let mut parts = s.split('/');
    let (first, second) = (parts.next().unwrap_or(""), parts.next());
    if parts.next().is_some() {
        out.push(Cow::Borrowed(KEY_SHAPE_TEXT));
        return out;
    }
    let name = match second {
        None => first,
        Some(name) => {
            if first.is_empty() {
                out.push(Cow::Borrowed("prefix part must be non-empty"));
            } else {
                if first.len() > 253 {
                    out.push(Cow::Borrowed("prefix part must be no more than 253 bytes"));
                }
                if !is_subdomain_shape(first) {
                    out.push(Cow::Owned(format!("prefix part {SUBDOMAIN_TEXT}")));
                }
            }
            name
        }
    };
    if name.is_empty() {
        out.push(Cow::Borrowed("name part must be non-empty"));
    } else if name.len() > 63 {
        out.push(Cow::Borrowed("name part must be no more than 63 bytes"));
    }
    if !is_name_part_shape(name) {
        out.push(Cow::Borrowed(NAME_PART_TEXT));
    }
    out
}

/// VALUE: a label value.
pub fn label_value(s: &str) -> Messages {
    let mut out = Messages::new();
    if s.len() > 63 {
        out.push(Cow::Borrowed("must be no more than 63 bytes"));
    }
    if !s.is_empty() && !is_name_part_shape(s) {
        out.push(Cow::Borrowed(LABEL_VALUE_TEXT));
    }
    out
}

/// CMKEY: a key of a ConfigMap or Secret.
pub fn config_key(s: &str) -> Messages {
    let mut out = Messages::new();
    if s.len() > 253 {
        out.push(Cow::Borrowed("must be no more than 253 characters"));
    }
    if s.is_empty() || !s.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)) {
        out.push(Cow::Borrowed(CONFIG_KEY_TEXT));
    }
    if s == "." {
        out.push(Cow::Borrowed("must not be '.'"));
    } else if s == ".." {
        out.push(Cow::Borrowed("must not be '..'"));
    } else if s.starts_with("..") {
        out.push(Cow::Borrowed("must not start with '..'"));
    }
    out
}

/// ENVNAME: the name of an environment variable.
pub fn env_name(s: &str) -> Messages {
    let valid = !s.is_empty() && s.bytes().all(|b| (b' '..=b'~').contains(&b) && b != b'=');
    if valid { Messages::new() } else { vec![Cow::Borrowed(ENV_NAME_TEXT)] }
}

/// PORTNUM.
pub fn port_number(port: i64) -> Messages {
    if (1..=65535).contains(&port) {
        Messages::new()
    } else {
        vec![Cow::Borrowed("must be between 1 and 65535, inclusive")]
    }
}

/// PORTNAME: the name of a port.
pub fn port_name(s: &str) -> Messages {
    let mut out = Messages::new();
    if s.len() > 15 {
        out.push(Cow::Borrowed("must be no more than 15 characters"));
    }
    if s.is_empty() || !s.bytes().all(|b| lower_alnum(b) || b == b'-') {
        out.push(Cow::Borrowed("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"));
    }
    if !s.bytes().any(|b| b.is_ascii_lowercase()) {
        out.push(Cow::Borrowed("must contain at least one letter (a-z)"));
    }
    if s.contains("--") {
        out.push(Cow::Borrowed("must not contain consecutive hyphens"));
    }
    if s.starts_with('-') || s.ends_with('-') {
        out.push(Cow::Borrowed("must not begin or end with a hyphen"));
    }
    out
}

/// ID: a user or group number.
pub fn user_id(id: i64) -> Messages {
    if (0..=i64::from(i32::MAX)).contains(&id) {
        Messages::new()
    } else {
        vec![Cow::Borrowed("must be between 0 and 2147483647, inclusive")]
    }
}

/// In lower case, one character for one as Go's `strings.ToLower` has it: `İ` becomes `i`.
pub fn lower(s: &str) -> Cow<'_, str> {
    if s.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        return Cow::Borrowed(s);
    }
    Cow::Owned(s.chars().filter_map(|c| c.to_lowercase().next()).collect())
}

/// Whether some `/`-separated element of a path is exactly `..`.
pub fn has_backstep(path: &str) -> bool {
    path.split('/').any(|element| element == "..")
}

/// RELPATH: a relative path without backsteps.
pub fn relative_path(s: &str) -> Messages {
    let mut out = Messages::new();
    if s.starts_with('/') {
        out.push(Cow::Borrowed("must be a relative path"));
    }
    if has_backstep(s) {
        out.push(Cow::Borrowed("must not contain '..'"));
    }
    out
}

/// LOCALPATH: a relative path that does not begin with two dots.
pub fn local_path(s: &str) -> Messages {
    let mut out = relative_path(s);
    if s.starts_with("..") && !s.starts_with("../") {
        out.push(Cow::Borrowed("must not start with '..'"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_dots_are_told_so() {
        assert_eq!(label("app.v1"), ["must not contain dots"]);
        assert_eq!(label("my_app"), [LABEL_TEXT]);
        assert!(label("my-app").is_empty());
    }

    #[test]
    fn qualified_names_report_each_part() {
        assert_eq!(qualified_name(""), ["name part must be non-empty", NAME_PART_TEXT]);
        assert_eq!(qualified_name("/a"), ["prefix part must be non-empty"]);
        assert_eq!(qualified_name("a/b/c"), [KEY_SHAPE_TEXT]);
        assert!(qualified_name("example.com/My_name").is_empty());
    }

    #[test]
    fn a_prefix_may_end_in_a_dash() {
        assert!(subdomain_prefix("web-").is_empty());
        assert_eq!(subdomain_prefix("-"), [SUBDOMAIN_TEXT]);
    }

    #[test]
    fn backsteps_and_leading_dots_are_told_apart() {
        assert_eq!(local_path("../x"), ["must not contain '..'"]);
        assert_eq!(local_path("..x"), ["must not start with '..'"]);
        assert_eq!(local_path(".."), ["must not contain '..'", "must not start with '..'"]);
    }
}
