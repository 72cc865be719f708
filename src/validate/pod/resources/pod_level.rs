//! The resources of a pod as a whole against those of its containers.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::names;
use super::requirements::{Requirements, ResourceList};
use crate::kube_types::quantity::Quantity;
use crate::schema::value::View;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

/// Checks that the pod at `path` asks for no less than its containers do together, and allows none of
/// them more than itself.
pub(super) fn consistency(faults: &mut Faults, pod: &Requirements<'_>, spec: View<'_>, path: &Path<'_>) {
    let resources_path = path.field("resources");
    let requests_path = resources_path.field("requests");
    for (name, needed) in Totals::of(spec, |c| c.requests).0 {
        aggregate(faults, pod.requests.get(name), &needed, &requests_path.key(name), "requests");
    }
    // Only huge pages: elsewhere the limits of containers may add up to more.
    let limits_path = resources_path.field("limits");
    let limits = Totals::of(spec, |c| c.limits).0;
    for (name, needed) in limits.into_iter().filter(|(name, _)| names::is_huge_pages(name)) {
        aggregate(faults, pod.limits.get(name), &needed, &limits_path.key(name), "limits");
    }
    container_limits(faults, pod.limits, spec, path);
}

fn aggregate(
    faults: &mut Faults,
    own: Option<&Quantity<'_>>,
    needed: &Quantity<'_>,
    path: &Path<'_>,
    kind: &str,
) {
    if let Some(own) = own
        && needed.cmp_amount(own) == Ordering::Greater
    {
        let needed = needed.text();
        faults.invalid(
            path,
            own.text(),
            format_args!("must be greater than or equal to aggregate container {kind} of {needed}"),
        );
    }
}

/// The server names a place that no manifest has: `resources.containers[0][cpu].limits`.
fn container_limits(faults: &mut Faults, pod: ResourceList<'_>, spec: View<'_>, path: &Path<'_>) {
    let (resources, containers) = (path.field("resources"), path.field("containers"));
    let named_containers = resources.field("containers");
    for (i, container) in spec.structs("containers").enumerate() {
        let container_path = containers.index(i);
        let container_resources = container_path.field("resources");
        let limits = container_resources.field("limits");
        for (name, limit) in Requirements::of(container.nested("resources")).limits.iter() {
            if let Some(most) = pod.get(name)
                && limit.cmp_amount(most) == Ordering::Greater
            {
                let detail = format_args!("must be less than or equal to pod limits of {}", most.text());
                faults
                    .invalid(&named_containers.index(i).key(name).field("limits"), limit.text(), detail)
                    .at(&limits.key(name));
            }
        }
    }
}

/// What the containers of a pod need together, by resource.
#[derive(Debug, Clone, Default)]
struct Totals<'t>(Vec<(&'t str, Cow<'t, Quantity<'t>>)>);

impl<'t> Totals<'t> {
    /// Whichever is more: what regular containers and sidecars need side by side, or what the neediest
    /// init container needs beside the sidecars started before it.
    ///
    /// Requests of 2 in the container, 1 in a first sidecar and 3 in an init container after it come
    /// to max(2 + 1, 1 + 3) = 4.
    fn of(spec: View<'t>, list: fn(Requirements<'t>) -> ResourceList<'t>) -> Self {
        let (mut together, mut sidecars, mut starting) =
            (Totals::default(), Totals::default(), Totals::default());
        for container in spec.structs("containers") {
            together.add(list(Requirements::of(container.nested("resources"))));
        }
        for container in spec.structs("initContainers") {
            let own = list(Requirements::of(container.nested("resources")));
            if container.opt_str("restartPolicy") == Some("Always") {
                together.add(own);
                sidecars.add(own);
                starting.raise_to(sidecars.clone());
            } else {
                // The sum prints in the notation of its first part: the container's own.
                let mut combined = Totals::default();
                combined.add(own);
                for (name, amount) in &sidecars.0 {
                    combined.add_one(name, amount.clone());
                }
                starting.raise_to(combined);
            }
        }
        together.raise_to(starting);
        together
    }

    fn add(&mut self, list: ResourceList<'t>) {
        for (name, amount) in list.iter() {
            self.add_one(name, Cow::Borrowed(amount));
        }
    }

    fn add_one(&mut self, name: &'t str, amount: Cow<'t, Quantity<'t>>) {
        match self.0.iter_mut().find(|(n, _)| *n == name) {
            Some((_, sum)) => *sum = Cow::Owned(sum.plus(&amount)),
            None => self.0.push((name, amount)),
        }
    }

    fn raise_to(&mut self, other: Totals<'t>) {
        for (name, amount) in other.0 {
            match self.0.iter_mut().find(|(n, _)| *n == name) {
                Some((_, most)) if amount.cmp_amount(most) != Ordering::Greater => {}
                Some((_, most)) => *most = amount,
                None => self.0.push((name, amount)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validate::Rules;
    use crate::validate::pod::resources::pod_resources;
    use crate::validate::pod::testing::found;

    fn faults(spec: &str) -> Vec<String> {
        found("v1.PodSpec", spec, |faults, spec, path| pod_resources(faults, spec, path, &Rules::default()))
    }

    #[test]
    fn an_init_container_counts_beside_the_sidecars_before_it_only() {
        let spec = r#"{
            "resources": {"requests": {"cpu": "3"}},
            "containers": [{"name": "a", "resources": {"requests": {"cpu": "2"}}}],
            "initContainers": [
                {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
                {"name": "i", "resources": {"requests": {"cpu": "3"}}},
                {"name": "late", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}}]}"#;
        let text =
            r#"Invalid value: "3": must be greater than or equal to aggregate container requests of 4"#;
        assert_eq!(faults(spec), [format!("C.resources.requests[cpu]: {text}")]);
    }

    #[test]
    fn limits_of_one_container_lie_below_those_of_the_pod() {
        let spec = r#"{
            "resources": {"limits": {"cpu": "2"}},
            "containers": [{"name": "a"}, {"name": "b", "resources": {"limits": {"cpu": "4", "memory": "1Gi"}}}]}"#;
        let text = r#"Invalid value: "4": must be less than or equal to pod limits of 2"#;
        let place = "C.containers[1].resources.limits[cpu]";
        assert_eq!(faults(spec), [format!("C.resources.containers[1][cpu].limits: {text} @ {place}")]);
    }

    #[test]
    fn a_pod_has_no_claims_of_its_own_not_even_an_empty_list() {
        let text = "Forbidden: claims may not be set for Resources at pod-level";
        assert_eq!(faults(r#"{"resources": {"claims": []}}"#), [format!("C.resources.claims: {text}")]);
        assert!(faults(r#"{"resources": {}}"#).is_empty());
    }
}
