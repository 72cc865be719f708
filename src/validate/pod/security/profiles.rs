//! Seccomp and AppArmor profiles.

use crate::kube_types::names;
use crate::schema::print::internal_json;
use crate::schema::value::View;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;

const TYPES: &[&str] = &["Localhost", "RuntimeDefault", "Unconfined"];

/// The longest path of a profile that Linux can open: `PATH_MAX` less the closing NUL.
const LOCALHOST_PROFILE_MAX_BYTES: usize = 4095;

/// Checks `seccompProfile` (if set) of the security context at `path`.
pub(super) fn seccomp(faults: &mut Faults, context: View<'_>, path: &Path<'_>) {
    let Some(profile) = context.opt("seccompProfile") else { return };
    let path = &path.field("seccompProfile");
    profile_type(faults, profile.str("type"), path, "type is required when seccompProfile is set");

    let file_path = &path.field("localhostProfile");
    match (profile.str("type") == "Localhost", profile.opt_str("localhostProfile")) {
        (true, Some(file)) => faults.invalid_each(file_path, file, &names::relative_path(file)),
        (true, None) => {
            faults.required(file_path, "must be set when seccomp type is Localhost");
        }
        // The server prints the whole profile here.
        (false, Some(_)) => {
            let detail = "can only be set when seccomp type is Localhost";
            faults.invalid(file_path, Shown::Json(internal_json(profile).into()), detail);
        }
        (false, None) => {}
    }
}

/// Checks `appArmorProfile` (if set) of the security context at `path`.
pub(super) fn app_armor(faults: &mut Faults, context: View<'_>, path: &Path<'_>) {
    let Some(profile) = context.opt("appArmorProfile") else { return };
    let path = &path.field("appArmorProfile");
    profile_type(faults, profile.str("type"), path, "type is required when appArmorProfile is set");

    let name_path = &path.field("localhostProfile");
    match (profile.str("type"), profile.opt_str("localhostProfile")) {
        ("Localhost", name) => app_armor_name(faults, name.unwrap_or(""), name_path),
        ("RuntimeDefault" | "Unconfined", Some(name)) => {
            let detail = "can only be set when AppArmor type is Localhost";
            faults.invalid(name_path, Shown::Named(name), detail);
        }
        // Of a profile whose type says nothing, the server does not look at the name.
        _ => {}
    }
}

fn app_armor_name(faults: &mut Faults, name: &str, path: &Path<'_>) {
    if name.trim() != name {
        faults.invalid(path, name, "must not be padded with whitespace");
    } else if name.is_empty() {
        faults.required(path, "must be set when AppArmor type is Localhost");
    }
    if name.len() > LOCALHOST_PROFILE_MAX_BYTES {
        faults.too_long(path, LOCALHOST_PROFILE_MAX_BYTES);
    }
}

fn profile_type(faults: &mut Faults, ty: &str, path: &Path<'_>, missing: &str) {
    if ty.is_empty() {
        faults.required(&path.field("type"), missing);
    } else if !TYPES.contains(&ty) {
        faults.not_supported(&path.field("type"), ty, TYPES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    fn faults(context: &str) -> Vec<String> {
        found("v1.PodSecurityContext", context, |faults, context, path| {
            seccomp(faults, context, path);
            app_armor(faults, context, path);
        })
    }

    #[test]
    fn a_seccomp_profile_prints_whole_where_it_has_no_business() {
        let unused = r#"{"seccompProfile": {"type": "Unconfined", "localhostProfile": "p"}}"#;
        let text = "can only be set when seccomp type is Localhost";
        let shown = r#"{"Type":"Unconfined","LocalhostProfile":"p"}"#;
        assert_eq!(
            faults(unused),
            [format!("C.seccompProfile.localhostProfile: Invalid value: {shown}: {text}")]
        );
    }

    #[test]
    fn blanks_are_padding_and_a_missing_type_hides_the_name() {
        let blank = r#"{"appArmorProfile": {"type": "Localhost", "localhostProfile": " "}}"#;
        assert_eq!(
            faults(blank),
            [r#"C.appArmorProfile.localhostProfile: Invalid value: " ": must not be padded with whitespace"#]
        );
        let untyped = r#"{"appArmorProfile": {"localhostProfile": " "}}"#;
        assert_eq!(
            faults(untyped),
            ["C.appArmorProfile.type: Required value: type is required when appArmorProfile is set"]
        );
    }
}
