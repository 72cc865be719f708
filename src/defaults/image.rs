//! Image references, as far as `imagePullPolicy` depends on them.
//!
//! Source: github.com/distribution/reference, as kubernetes v1.37.2 uses it. Parity: exact.

/// Whether the API server pulls this image always when nobody says otherwise: its tag is `latest`,
/// written or implied. An unparsable reference has no tag.
pub(super) fn is_latest(image: &str) -> bool {
    parse(image).is_some_and(|r| match r {
        (Some(tag), _) => tag == "latest",
        (None, has_digest) => !has_digest,
    })
}

/// The tag, and whether there is a digest; `None` for what is no reference.
fn parse(image: &str) -> Option<(Option<&str>, bool)> {
    if image.len() == 64 && image.bytes().all(is_lower_hex) {
        return None;
    }
    let (domain, rest) = split_domain(image);
    let remote = rest.split_once(':').map_or(rest, |(name, _)| name);
    if remote.chars().any(char::is_uppercase) {
        return None;
    }
    let (base, digest) = match rest.split_once('@') {
        Some((base, digest)) => (base, Some(digest)),
        None => (rest, None),
    };
    if digest.is_some_and(|d| !is_digest(d)) {
        return None;
    }
    let last_at = base.rfind('/').map_or(0, |at| at + 1);
    let (name, tag) = match base[last_at..].split_once(':') {
        Some((_, tag)) => (&base[..base.len() - tag.len() - 1], Some(tag)),
        None => (base, None),
    };
    if tag.is_some_and(|t| !is_tag(t)) {
        return None;
    }
    // Docker Hub's own images live below `library/`, which may be left out.
    let prefix = if domain.is_none() && !rest.contains('/') { "library/".len() } else { 0 };
    let as_path = !is_domain(domain.unwrap_or("docker.io"));
    let mut length = prefix + name.len();
    if as_path {
        let domain = domain.unwrap_or("");
        if !is_path_component(domain) {
            return None;
        }
        length += domain.len() + 1;
    }
    (length <= 255 && name.split('/').all(is_path_component)).then_some((tag, digest.is_some()))
}

/// The domain, unless it is Docker Hub's, and what follows it.
fn split_domain(image: &str) -> (Option<&str>, &str) {
    match image.split_once('/') {
        Some((first, rest)) if first == "index.docker.io" || first == "docker.io" => (None, rest),
        Some((first, rest))
            if first == "localhost"
                || first.contains(['.', ':'])
                || first.chars().any(char::is_uppercase) =>
        {
            (Some(first), rest)
        }
        _ => (None, image),
    }
}

fn is_lower_hex(b: u8) -> bool {
    matches!(b, b'0'..=b'9' | b'a'..=b'f')
}

fn is_domain(domain: &str) -> bool {
    let (host, port) = match domain.strip_prefix('[') {
        Some(rest) => {
            let Some((address, after)) = rest.split_once(']') else { return false };
            if address.is_empty() || !address.bytes().all(|b| b.is_ascii_hexdigit() || b == b':') {
                return false;
            }
            match after.strip_prefix(':') {
                Some(port) => return is_port(port),
                None => return after.is_empty(),
            }
        }
        None => match domain.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (domain, None),
        },
    };
    host.split('.').all(is_host_label) && port.is_none_or(is_port)
}

fn is_host_label(label: &str) -> bool {
    !label.is_empty()
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn is_port(port: &str) -> bool {
    !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())
}

/// Runs of `[a-z0-9]` joined by one `.` or `_`, two `_`, or any number of `-`.
fn is_path_component(component: &str) -> bool {
    let alnum = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = component.as_bytes();
    if !bytes.first().is_some_and(|b| alnum(*b)) || !bytes.last().is_some_and(|b| alnum(*b)) {
        return false;
    }
    bytes
        .split(|b| alnum(*b))
        .filter(|run| !run.is_empty())
        .all(|run| matches!(run, b"." | b"_" | b"__") || run.iter().all(|b| *b == b'-'))
}

fn is_tag(tag: &str) -> bool {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    tag.len() <= 128
        && tag.bytes().next().is_some_and(word)
        && tag.bytes().all(|b| word(b) || b == b'.' || b == b'-')
}

fn is_digest(digest: &str) -> bool {
    let Some((algorithm, hex)) = digest.split_once(':') else { return false };
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return false,
    };
    hex.len() == length && hex.bytes().all(is_lower_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_latest_tags_are_pulled_always() {
        let digest = format!("sha256:{}", "a".repeat(64));
        // Each row was given by the v1.37.2 defaulting.
        for (image, latest) in [
            ("nginx", true),
            ("nginx:latest", true),
            ("nginx:1.25", false),
            (&format!("nginx@{digest}"), false),
            (&format!("nginx:latest@{digest}"), true),
            ("Nginx", false),
            ("nginx:", false),
            ("localhost:5000/a", true),
            ("", false),
            ("a_b.c/x", true),
            ("a..b/x", false),
            (&"a".repeat(64), false),
        ] {
            assert_eq!(is_latest(image), latest, "{image}");
        }
    }
}
