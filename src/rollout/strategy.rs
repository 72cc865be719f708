//! How old pods are replaced, and how many pods more or fewer that may mean.

use std::fmt;

/// The strategy of a Deployment.
#[derive(Debug, Clone, PartialEq)]
pub enum Strategy {
    /// Old pods go as new ones come.
    RollingUpdate {
        /// Pods above the wanted number.
        max_surge: Bound,
        /// Pods below the wanted number.
        max_unavailable: Bound,
    },
    /// Old pods go, then new ones come.
    Recreate,
    /// A type that the API server does not accept; nothing is done about it.
    Unknown(Box<str>),
}

/// A number of pods: absolute, or a share of the wanted number.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// So many pods.
    Pods(i32),
    /// Text, `25%` in an object that the API server accepted.
    Text(Box<str>),
}

/// How far a rolling update may leave the wanted number, in pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fenceposts {
    /// Pods above.
    pub surge: i32,
    /// Pods below, at most the wanted number.
    pub unavailable: i32,
}

/// A bound that is no number of pods and no percentage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct BadBound {
    text: Box<str>,
}

impl fmt::Display for BadBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.ends_with('%') {
            write!(f, "invalid value for IntOrString: invalid value {:?}: not a number", self.text)
        } else {
            f.write_str("invalid value for IntOrString: invalid type: string is not a percentage")
        }
    }
}

/// Which way a share of pods is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    Up,
    Down,
}

impl Bound {
    fn pods(&self, desired: i32, round: Round) -> Result<i32, BadBound> {
        let text = match self {
            Bound::Pods(pods) => return Ok(*pods),
            Bound::Text(text) => text,
        };
        let bad = || BadBound { text: text.clone() };
        let percent: i64 = text.strip_suffix('%').ok_or_else(bad)?.parse().map_err(|_| bad())?;
        let exact = percent as f64 * f64::from(desired) / 100.0;
        let pods = match round {
            Round::Up => exact.ceil(),
            Round::Down => exact.floor(),
        };
        // Go truncates the 64-bit integer to 32 bits; no accepted object comes near.
        Ok(pods as i64 as i32)
    }
}

impl Strategy {
    /// How far `desired` pods may be exceeded and undercut.
    ///
    /// Percentages are of `desired`: surge rounds up, unavailable down. When both come to 0, unavailable
    /// becomes 1, so that a quota cannot stall the rollout: 2 pods at 0% and 25% give (0, 0), hence (0, 1).
    /// With 0 pods wanted nothing may be unavailable. Recreate has neither; and a bound that cannot be read
    /// makes both 0, as nothing better can be done about an object that the API server should have refused.
    ///
    /// Source: kubernetes v1.37.2 `pkg/controller/deployment/util`, `ResolveFenceposts`, `MaxSurge`,
    /// `MaxUnavailable`. Parity: exact.
    pub fn fenceposts(&self, desired: i32) -> Fenceposts {
        let Strategy::RollingUpdate { max_surge, max_unavailable } = self else {
            return Fenceposts::default();
        };
        let (Ok(surge), Ok(unavailable)) =
            (max_surge.pods(desired, Round::Up), max_unavailable.pods(desired, Round::Down))
        else {
            return Fenceposts::default();
        };
        let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable };
        let unavailable = if desired == 0 { 0 } else { unavailable.min(desired) };
        Fenceposts { surge, unavailable }
    }

    /// The pods above `desired` by `maxSurge` alone, which is all that sizing the new ReplicaSet reads.
    ///
    /// # Errors
    /// [`BadBound`] when it cannot be read.
    pub(super) fn surge(max_surge: &Bound, desired: i32) -> Result<i32, BadBound> {
        max_surge.pods(desired, Round::Up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(surge: &str, unavailable: &str) -> Strategy {
        let bound = |text: &str| text.parse().map_or_else(|_| Bound::Text(text.into()), Bound::Pods);
        Strategy::RollingUpdate { max_surge: bound(surge), max_unavailable: bound(unavailable) }
    }

    /// Case 62: what v1.37.2 makes of each pair, as most pods and least available ones.
    #[test]
    fn surge_rounds_up_and_unavailable_down() {
        let table = [
            (1, [(2, 1), (1, 0), (1, 0)]),
            (2, [(3, 2), (2, 1), (2, 1)]),
            (3, [(4, 3), (3, 2), (3, 2)]),
            (5, [(7, 4), (5, 4), (5, 4)]),
            (6, [(8, 5), (6, 5), (6, 5)]),
            (10, [(13, 8), (10, 8), (10, 9)]),
        ];
        let pairs = [bounds("25%", "25%"), bounds("0", "25%"), bounds("0", "1%")];
        for (desired, expected) in table {
            for (strategy, want) in pairs.iter().zip(expected) {
                let posts = strategy.fenceposts(desired);
                assert_eq!(
                    (desired + posts.surge, desired - posts.unavailable),
                    want,
                    "{desired} {strategy:?}"
                );
            }
        }
    }

    #[test]
    fn the_other_pairs_of_case_62() {
        for desired in [1, 2, 3, 5, 6, 10] {
            assert_eq!(bounds("25%", "0").fenceposts(desired).unavailable, 0);
            assert_eq!(bounds("1%", "0").fenceposts(desired), Fenceposts { surge: 1, unavailable: 0 });
            let all = Fenceposts { surge: desired, unavailable: desired };
            assert_eq!(bounds("100%", "100%").fenceposts(desired), all);
        }
    }

    #[test]
    fn odd_bounds_count_as_none() {
        assert_eq!(bounds("x", "1").fenceposts(5), Fenceposts::default());
        assert_eq!(bounds("5%%", "1").fenceposts(5), Fenceposts::default());
        assert_eq!(Strategy::Recreate.fenceposts(5), Fenceposts::default());
        assert_eq!(bounds("0", "0").fenceposts(0), Fenceposts::default());
    }
}
