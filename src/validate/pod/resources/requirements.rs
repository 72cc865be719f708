//! The rules that limits and requests share, of containers and of pods.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::names;
use crate::kube_types::names::{NON_NEGATIVE, qualified_name};
use crate::kube_types::quantity::Quantity;
use crate::schema::value::{Value, View};
use crate::validate::Rules;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;

/// Amounts by resource, in the order given.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ResourceList<'t>(&'t [(Cow<'t, str>, Value<'t>)]);

impl<'t> ResourceList<'t> {
    pub(super) fn of(owner: View<'t>, field: &'static str) -> Self {
        ResourceList(owner.map(field))
    }

    pub(super) fn iter(self) -> impl Iterator<Item = (&'t str, &'t Quantity<'t>)> {
        self.0.iter().filter_map(|(name, value)| match value {
            Value::Quantity(amount) => Some((&**name, amount)),
            _ => None,
        })
    }

    /// Whether an amount of huge pages in it is no multiple of the page size.
    pub(super) fn has_indivisible_huge_pages(self) -> bool {
        self.iter().any(|(name, amount)| {
            names::page_size(name).is_some_and(|page_size| !is_divisible(amount, page_size))
        })
    }

    pub(super) fn get(self, name: &str) -> Option<&'t Quantity<'t>> {
        self.iter().find(|(n, _)| *n == name).map(|(_, amount)| amount)
    }
}

/// Whose requirements they are; decides which names may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Container,
    Pod,
}

/// What is asked for, and the bounds of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Requirements<'t> {
    pub(super) limits: ResourceList<'t>,
    pub(super) requests: ResourceList<'t>,
}

impl<'t> Requirements<'t> {
    pub(super) fn of(resources: View<'t>) -> Self {
        Requirements {
            limits: ResourceList::of(resources, "limits"),
            requests: ResourceList::of(resources, "requests"),
        }
    }

    /// Checks names and amounts of both lists, and each request against its limit.
    pub(super) fn check(&self, faults: &mut Faults, path: &Path<'_>, level: Level, rules: &Rules) {
        let (limits_path, requests_path) = (path.field("limits"), path.field("requests"));
        for (name, limit) in self.limits.iter() {
            entry(faults, name, limit, &limits_path.key(name), level);
            huge_pages(faults, name, limit, &limits_path.key(name), rules);
        }
        for (name, request) in self.requests.iter() {
            entry(faults, name, request, &requests_path.key(name), level);
            self.request_against_limit(faults, name, request, path);
            huge_pages(faults, name, request, &requests_path.key(name), rules);
        }
        let mentions = |wanted: fn(&str) -> bool| {
            self.limits.iter().chain(self.requests.iter()).any(|(name, _)| wanted(name))
        };
        if mentions(names::is_huge_pages) && !mentions(|name| matches!(name, "cpu" | "memory")) {
            faults.forbidden(path, "HugePages require cpu or memory");
        }
    }

    /// The server names the list, not its entry.
    fn request_against_limit(
        &self,
        faults: &mut Faults,
        name: &str,
        request: &Quantity<'_>,
        path: &Path<'_>,
    ) {
        let requests_path = path.field("requests");
        let overcommit = names::allows_overcommit(name);
        let Some(limit) = self.limits.get(name) else {
            if !overcommit {
                faults
                    .required(&path.field("limits"), "Limit must be set for non overcommitable resources")
                    .at(&requests_path.key(name));
            }
            return;
        };
        let relation = match request.cmp_amount(limit) {
            Ordering::Less | Ordering::Greater if !overcommit => "equal to",
            Ordering::Greater => "less than or equal to",
            _ => return,
        };
        let detail = format_args!("must be {relation} {name} limit of {}", limit.text());
        faults.invalid(&requests_path, request.text(), detail).at(&requests_path.key(name));
    }
}

/// Checks one entry of a list by itself; `path` is the entry's.
fn entry(faults: &mut Faults, name: &str, amount: &Quantity<'_>, path: &Path<'_>, level: Level) {
    match level {
        Level::Container => container_resource_name(faults, name, path),
        Level::Pod => pod_resource_name(faults, name, path),
    }
    if amount.sign() == Ordering::Less {
        faults.invalid(path, amount.text(), NON_NEGATIVE);
    }
    if names::is_counted(name) && !amount.is_whole() {
        faults.invalid(path, Shown::Named(amount.text()), "must be an integer");
    }
}

fn container_resource_name(faults: &mut Faults, name: &str, path: &Path<'_>) {
    resource_name(faults, name, path);
    let detail = if name.contains('/') {
        if names::is_native(name) || names::is_extended(name) {
            return;
        }
        "doesn't follow extended resource name standard"
    } else if names::is_for_containers(name) {
        return;
    } else {
        "must be a standard resource for containers"
    };
    faults.invalid(path, Shown::Named(name), detail).at_key(path);
}

fn pod_resource_name(faults: &mut Faults, name: &str, path: &Path<'_>) {
    if resource_name(faults, name, path) && !names::is_for_pods(name) {
        faults.not_supported(path, name, &["cpu", "hugepages-", "memory"]).at_key(path);
    }
}

/// Checks the name for any use; true when nothing is wrong with it.
fn resource_name(faults: &mut Faults, name: &str, path: &Path<'_>) -> bool {
    let messages = qualified_name(name);
    for message in &messages {
        faults.invalid(path, Shown::Named(name), message).at_key(path);
    }
    if !messages.is_empty() {
        return false;
    }
    let known = name.contains('/') || names::is_standard(name);
    if !known {
        let detail = "must be a standard resource type or fully qualified";
        faults.invalid(path, Shown::Named(name), detail).at_key(path);
    }
    known
}

fn huge_pages(faults: &mut Faults, name: &str, amount: &Quantity<'_>, path: &Path<'_>, rules: &Rules) {
    let Some(page_size) = names::page_size(name) else { return };
    if rules.exempt.indivisible_huge_pages || is_divisible(amount, page_size) {
        return;
    }
    let detail = format_args!("{} is not positive integer multiple of {name}", amount.text());
    faults.invalid(path, amount.text(), detail);
}

/// Whether the amount is a multiple of the page size; never, where the size cannot be read.
///
/// Parity: exact, but for page sizes that come to 0 in 64 bits, by which the server divides and crashes.
fn is_divisible(amount: &Quantity<'_>, page_size: &str) -> bool {
    if page_size.trim() != page_size {
        return false;
    }
    let Ok(size) = Quantity::parse(page_size) else { return false };
    if size.sign() != Ordering::Greater || !size.is_whole() {
        return false;
    }
    match size.value() {
        0 => false,
        size => amount.value().wrapping_rem(size) == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::resources::overhead;
    use crate::validate::pod::testing::found;

    fn faults(resources: &str) -> Vec<String> {
        found("v1.ResourceRequirements", resources, |faults, resources, path| {
            Requirements::of(resources).check(faults, path, Level::Container, &Rules::default());
        })
    }

    #[test]
    fn what_cannot_be_overcommitted_has_a_limit_equal_to_its_request() {
        let mixed = r#"{
            "limits": {"nvidia.com/gpu": "1500m", "x.kubernetes.io/y": "1500m"},
            "requests": {"nvidia.com/gpu": "1", "x.kubernetes.io/y": "1", "hugepages-2Mi": "2Mi"}}"#;
        assert_eq!(
            faults(mixed),
            [
                r#"C.limits[nvidia.com/gpu]: Invalid value: "1500m": must be an integer"#,
                r#"C.requests: Invalid value: "1": must be equal to nvidia.com/gpu limit of 1500m @ C.requests[nvidia.com/gpu]"#,
                "C.limits: Required value: Limit must be set for non overcommitable resources @ C.requests[hugepages-2Mi]",
                "C: Forbidden: HugePages require cpu or memory",
            ]
        );
    }

    #[test]
    fn overhead_reads_as_limits_but_lies_where_it_was_written() {
        let spec = r#"{"overhead": {"hugepages-2Mi": "3Mi", "memmory": "1"}}"#;
        let found = found("v1.PodSpec", spec, |faults, spec, path| {
            overhead(faults, spec, path, &Rules::default());
        });
        assert_eq!(
            found,
            [
                r#"C.overhead.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi @ C.overhead[hugepages-2Mi]"#,
                r#"C.overhead.limits[memmory]: Invalid value: "memmory": must be a standard resource type or fully qualified @ C.overhead[memmory]"#,
                r#"C.overhead.limits[memmory]: Invalid value: "memmory": must be a standard resource for containers @ C.overhead[memmory]"#,
                "C.overhead: Forbidden: HugePages require cpu or memory",
            ]
        );
    }

    #[test]
    fn page_sizes_are_whole_and_positive() {
        let four = Quantity::parse("4Mi").expect("a quantity");
        for (size, divides) in [("2Mi", true), ("3Mi", false), ("", false), ("x", false), ("0", false)] {
            assert_eq!(is_divisible(&four, size), divides, "{size}");
        }
        assert!(!is_divisible(&four, " 2Mi"));
        assert!(!is_divisible(&four, "-2Mi"));
        assert!(!is_divisible(&four, "500m"));
        assert!(!is_divisible(&four, "1e30"), "the server divides by 0");
    }
}
