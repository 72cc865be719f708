//! What the tests of the rules share.

use crate::schema::table::Table;
use crate::schema::value::View;
use crate::schema::{decode, json};
use crate::validate::fault::{Fault, Faults};
use crate::validate::path::{Path, Step};

/// Reads JSON as the Go struct `ty` and gives what `check` finds at the path `C`, each fault as
/// `field: message`, with ` @ place` behind it where that is another than the field.
///
/// Nothing is defaulted.
pub(in crate::validate) fn found(
    ty: &str,
    text: &str,
    check: impl FnOnce(&mut Faults, View<'_>, &Path<'_>),
) -> Vec<String> {
    let node = json::read(text.as_bytes()).expect("the case is JSON");
    let decoded = decode::decode(&node, Table::newest().of(ty));
    assert!(decoded.strict.is_empty(), "{:?}", decoded.strict);
    let object = decoded.object.expect("the case has the type it says");
    let mut faults = Faults::default();
    check(&mut faults, object.view(), &Path::root("C"));
    faults.list.iter().map(shown).collect()
}

fn shown(fault: &Fault) -> String {
    let mut place = String::new();
    for step in &fault.place {
        match step {
            Step::Field(name) if place.is_empty() => place.push_str(name),
            Step::Field(name) => place.push_str(&format!(".{name}")),
            Step::Index(i) => place.push_str(&format!("[{i}]")),
            Step::Key(key) => place.push_str(&format!("[{key}]")),
        }
    }
    let at = if place == fault.field { String::new() } else { format!(" @ {place}") };
    format!("{}: {}{at}", fault.field, fault.message)
}
