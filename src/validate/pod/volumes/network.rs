//! Volumes reached over a network whose addresses have a format: `nfs`, `iscsi`, `fc`, `quobyte`.

use super::required;
use crate::schema::print::value_json;
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;

pub(super) fn nfs(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "server", path);
    required(faults, source, "path", path);
    let export = source.str("path");
    if !export.starts_with('/') {
        faults.invalid(&path.field("path"), export, "must be an absolute path");
    }
}

pub(super) fn iscsi(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "targetPortal", path);
    let target = source.str("iqn");
    if target.is_empty() {
        faults.required(&path.field("iqn"), "");
    } else {
        iscsi_name(faults, target, &path.field("iqn"), &path.field("iqn"));
    }
    unit_number(faults, source.int("lun"), &path.field("lun"));
    let authenticates = source.bool("chapAuthDiscovery") || source.bool("chapAuthSession");
    if authenticates && !source.has("secretRef") {
        faults.required(&path.field("secretRef"), "");
    }
    if let Some(initiator) = source.opt_str("initiatorName") {
        iscsi_name(faults, initiator, &path.field("initiatorname"), &path.field("initiatorName"));
    }
}

/// With an initiator of its own, volume name and portal together name a session on the node.
///
/// The server checks this even where the iSCSI source is one too many.
pub(super) fn initiator_needs_short_name(
    faults: &mut Faults,
    volume: View<'_>,
    iscsi: View<'_>,
    path: &Path<'_>,
) {
    let name = volume.str("name");
    if iscsi.has("initiatorName") && name.len() + 1 + iscsi.str("targetPortal").len() > 64 {
        let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
        faults.invalid(&path.field("name"), name, detail);
    }
}

fn iscsi_name(faults: &mut Faults, name: &str, path: &Path<'_>, real: &Path<'_>) {
    let valid = match name.get(..3) {
        Some("iqn") => is_qualified_name(name),
        Some("eui") => has_alphanumerics(name, 16),
        Some("naa") => has_alphanumerics(name, 32),
        _ => {
            let detail = "must be valid format starting with iqn, eui, or naa";
            faults.invalid(path, name, detail).at(real);
            return;
        }
    };
    if !valid {
        faults.invalid(path, name, "must be valid format").at(real);
    }
}

/// Whether some end of `name` reads `iqn.2001-04.com.example:anything`. What precedes it does not
/// count: the server's pattern is not anchored at the start.
fn is_qualified_name(name: &str) -> bool {
    name.match_indices("iqn.").any(|(at, prefix)| is_dated_authority(&name[at + prefix.len()..]))
}

/// Whether `s` reads `2001-04.com.example:anything`.
fn is_dated_authority(s: &str) -> bool {
    let Some((date, rest)) = s.split_at_checked(8) else { return false };
    let dated = date.bytes().enumerate().all(|(i, b)| match i {
        4 => b == b'-',
        7 => b == b'.',
        _ => b.is_ascii_digit(),
    });
    let Some((authority, unique)) = rest.split_once(':') else { return false };
    dated
        && !authority.is_empty()
        && authority.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.')
        && !unique.is_empty()
        && !unique.bytes().any(|b| b",;*&$|\t\n\x0c\r ".contains(&b))
}

/// Whether `count` alphanumerics and nothing else follow the three letters and one character, which
/// need not be a dot but may not be a line break.
fn has_alphanumerics(name: &str, count: usize) -> bool {
    let mut rest = name[3..].chars();
    let separated = rest.next().is_some_and(|c| c != '\n');
    let digits = rest.as_str();
    separated && digits.len() == count && digits.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn unit_number(faults: &mut Faults, lun: i64, path: &Path<'_>) {
    if !(0..=255).contains(&lun) {
        faults.invalid(path, lun, "must be between 0 and 255, inclusive");
    }
}

pub(super) fn fibre_channel(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    let (targets, wwids) = (source.list("targetWWNs"), source.list("wwids"));
    if targets.is_empty() && wwids.is_empty() {
        let detail = "must specify either targetWWNs or wwids, but not both";
        faults.required(&path.field("targetWWNs"), detail);
    }
    if targets.is_empty() {
        return;
    }
    if !wwids.is_empty() {
        let detail = "targetWWNs and wwids can not be specified simultaneously";
        faults.invalid(
            &path.field("targetWWNs"),
            Shown::Json(value_json(source.get("targetWWNs")).into()),
            detail,
        );
    }
    match source.opt_int("lun") {
        Some(lun) => unit_number(faults, lun, &path.field("lun")),
        None => {
            faults.required(&path.field("lun"), "lun is required if targetWWNs is specified");
        }
    }
}

pub(super) fn quobyte(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    let detail = "must be a host:port pair or multiple pairs separated by commas";
    let registry = source.str("registry");
    if registry.is_empty() {
        faults.required(&path.field("registry"), detail);
    } else if source.str("tenant").len() >= 65 {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        faults.required(&path.field("tenant"), detail);
    } else if !registry.split(',').all(is_host_port) {
        // One fault stands for each bad pair's: they would all read the same.
        faults.invalid(&path.field("registry"), registry, detail);
    }
    required(faults, source, "volume", path);
}

/// Whether Go's `net.SplitHostPort` takes the text: a host, in brackets where it holds colons, a
/// colon, and a port. Either may be empty.
fn is_host_port(s: &str) -> bool {
    let Some((host, port)) = s.rsplit_once(':') else { return false };
    let host = match host.strip_prefix('[') {
        // The first closing bracket must be the one before the port.
        Some(bracketed) => match bracketed.split_once(']') {
            Some((inside, "")) => inside,
            _ => return false,
        },
        None if host.contains(':') => return false,
        None => host,
    };
    ![host, port].iter().any(|part| part.contains(['[', ']']))
}
