//! Field paths, built on the stack and written out only when a fault is found.

use std::fmt;

/// A field path such as `spec.template.spec.containers[0].image`: a chain of borrowed segments.
#[derive(Debug, Clone, Copy)]
pub struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    seg: Seg<'p>,
}

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seg<'p> {
    /// `.name`
    Field(&'p str),
    /// `[3]`
    Index(usize),
    /// `[key]`, of a map.
    Key(&'p str),
}

/// One step of a path that outlives the validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `.name`
    Field(String),
    /// `[3]`
    Index(usize),
    /// `[key]`, of a map.
    Key(String),
}

impl<'p> Path<'p> {
    /// A path of one field.
    pub const fn root(name: &'p str) -> Path<'p> {
        Path { parent: None, seg: Seg::Field(name) }
    }

    /// The path of a field below this one.
    #[must_use]
    pub const fn field(&'p self, name: &'p str) -> Path<'p> {
        Path { parent: Some(self), seg: Seg::Field(name) }
    }

    /// The path of a list element below this one.
    #[must_use]
    pub const fn index(&'p self, i: usize) -> Path<'p> {
        Path { parent: Some(self), seg: Seg::Index(i) }
    }

    /// The path of a map entry below this one.
    #[must_use]
    pub const fn key(&'p self, key: &'p str) -> Path<'p> {
        Path { parent: Some(self), seg: Seg::Key(key) }
    }

    /// The steps from the root.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps = self.parent.map(Path::steps).unwrap_or_default();
        steps.push(match self.seg {
            Seg::Field(name) => Step::Field(name.to_owned()),
            Seg::Index(i) => Step::Index(i),
            Seg::Key(key) => Step::Key(key.to_owned()),
        });
        steps
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.seg {
            Seg::Field(name) if self.parent.is_some() => write!(f, ".{name}"),
            Seg::Field(name) => f.write_str(name),
            Seg::Index(i) => write!(f, "[{i}]"),
            Seg::Key(key) => write!(f, "[{key}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_users_write_it() {
        let spec = Path::root("spec");
        let containers = spec.field("containers");
        let first = containers.index(0);
        let limits = first.field("limits");
        assert_eq!(limits.key("nvidia.com/gpu").to_string(), "spec.containers[0].limits[nvidia.com/gpu]");
    }
}
