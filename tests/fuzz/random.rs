//! Inputs made from a number.

/// A small generator of numbers (SplitMix64): the same seed, the same inputs, on every machine.
pub(crate) struct Random(u64);

/// Pieces that mean something to a reader of JSON or YAML.
const PIECES: [&str; 96] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    ": ",
    "- ",
    "-",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "  ",
    "    ",
    "\"",
    "'",
    "\\",
    "\\u0041",
    "\\ud800",
    "\\ud83d\\ude00",
    "\\x",
    "---\n",
    "--- ",
    "...\n",
    "%YAML 1.1\n",
    "%TAG ! x:\n",
    "# c\n",
    "#",
    "&a ",
    "*a",
    "*b",
    "&",
    "*",
    "<<: *a\n",
    "<<: [*a, *a]\n",
    "!!binary ",
    "!!str ",
    "!!int ",
    "!x ",
    "!",
    "|\n",
    "|+\n",
    "|2-\n",
    ">\n",
    ">-\n",
    "? ",
    "?",
    "=",
    "~",
    "null",
    "true",
    "yes",
    "off",
    "NaN",
    ".inf",
    "0x1F",
    "0o17",
    "017",
    "1_000",
    "1:30",
    "1e400",
    "-0",
    "1e99999999999",
    "2001-01-01",
    "\u{feff}",
    "\u{0}",
    "\u{85}",
    "\u{2028}",
    "\u{7f}",
    "é",
    "日",
    "\u{1f600}",
    "apiVersion",
    "apps/v1",
    "kind",
    "Deployment",
    "List",
    "items",
    "metadata",
    "name",
    "spec",
    "template",
    "containers",
    "image",
    "nginx",
    "resources",
    "limits",
    "cpu",
    "9999999999999999999",
    "1Ei",
    "1n",
    "replicas",
    "matchLabels",
    "annotations",
    "status",
];

/// Manifests as people write them.
pub(crate) const YAML: [&str; 3] = [
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  labels: &labels\n    app: web\nspec:\n  replicas: 3\n  selector:\n    matchLabels: *labels\n  template:\n    metadata:\n      labels:\n        <<: *labels\n        tier: \"front\"\n    spec:\n      containers:\n      - name: app\n        image: nginx:1.25 # pinned\n        args: [\"-c\", 'it''s']\n        env:\n        - {name: A, value: \"8080\"}\n        - name: SCRIPT\n          value: |\n            #!/bin/sh\n            echo hi\n        resources:\n          limits: {cpu: 500m, memory: 1Gi}\n        livenessProbe:\n          httpGet: {path: /, port: http}\n        ports:\n        - containerPort: 8080\n          name: http\n      volumes:\n      - name: data\n        emptyDir: {}\n",
    "# a stream\n---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: a}\n  spec:\n    strategy: {type: Recreate}\n    selector: {matchLabels: {a: b}}\n    template:\n      metadata: {labels: {a: b}}\n      spec: {containers: [{name: c, image: d}]}\n--- # second\napiVersion: v1\nkind: Service\nmetadata:\n  name: s\n...\n",
    "{\"apiVersion\": \"apps/v1\", \"kind\": \"Deployment\",\n \"metadata\": {\"name\": \"web\"},\n \"spec\": {\"replicas\": 1, \"replicas\": 2,\n  \"template\": {\"spec\": {\"containers\": [{\"name\": \"a\", \"image\": \"b\", \"imagePullPolcy\": \"x\"}]}}}}\n{\"kind\": \"Pod\"}\n",
];

impl Random {
    /// Numbers that follow from a seed.
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).expect("it is below a usize")
    }

    /// One of some things.
    pub(crate) fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }

    fn noise(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    /// Bytes without a plan: noise, or pieces that mean something, now and then very deep or long.
    pub(crate) fn soup(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        match self.below(40) {
            0 => out = self.deep(),
            1..=6 => {
                let n = self.below(200);
                out = self.noise(n);
            }
            _ => {
                for _ in 0..self.below(60) {
                    if self.below(20) == 0 {
                        let n = self.below(5);
                        out.extend(self.noise(n));
                    } else {
                        out.extend(self.pick(&PIECES).as_bytes());
                    }
                }
            }
        }
        out
    }

    /// One piece many times over: nesting, long scalars, many documents, aliases of aliases.
    fn deep(&mut self) -> Vec<u8> {
        let n = self.below(20_000);
        if self.below(4) == 0 {
            return self.alias_bomb().into_bytes();
        }
        let mut out = String::from(*self.pick(&["", "a: ", "- ", "{\"a\":", "--- "]));
        let piece = self.pick(&[
            "[", "{\"a\":", "- ", "? ", "{a: ", "---\n", "a", "&a ", "[[],", "a:\n ", "\"", "!", "|\n",
            "*a ", "\n", " ",
        ]);
        out.push_str(&piece.repeat(n));
        out.into_bytes()
    }

    /// Each line names the one before it several times.
    fn alias_bomb(&mut self) -> String {
        let (lines, width) = (1 + self.below(30), 1 + self.below(10));
        let mut out = String::from("a0: &a0 [x]\n");
        for i in 1..=lines {
            let aliases = vec![format!("*a{}", i - 1); width].join(", ");
            out.push_str(&format!("a{i}: &a{i} [{aliases}]\n"));
        }
        out
    }

    /// Changes one place of a text.
    pub(crate) fn damage(&mut self, text: &mut Vec<u8>, others: &[String]) {
        let at = self.below(text.len() + 1);
        let end = (at + self.below(12)).min(text.len());
        match self.below(9) {
            0 => text.truncate(at),
            1 => drop(text.drain(at..end)),
            2 => insert(text, at, self.pick(&PIECES).as_bytes()),
            3 => {
                let n = 1 + self.below(4);
                let noise = self.noise(n);
                insert(text, at, &noise);
            }
            4 => {
                let copy = text[at..end].to_vec();
                insert(text, at, &copy.repeat(1 + self.below(3)));
            }
            5 => {
                text.drain(at..end);
                insert(text, at, self.pick(&PIECES).as_bytes());
            }
            6 => self.damage_line(text),
            7 => {
                let other = self.pick(others).as_bytes();
                let (from, to) = (self.below(other.len()), self.below(other.len()));
                insert(text, at, &other[from.min(to)..from.max(to)]);
            }
            _ => {
                if let Some(byte) = text.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
        }
    }

    /// Repeats, drops or indents a whole line.
    fn damage_line(&mut self, text: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> = text.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        let at = self.below(lines.len());
        match self.below(3) {
            0 => lines.insert(at, lines[at].clone()),
            1 => drop(lines.remove(at)),
            _ => lines[at].splice(0..0, b"  ".iter().copied()).for_each(drop),
        }
        *text = lines.join(&b'\n');
    }
}

fn insert(text: &mut Vec<u8>, at: usize, what: &[u8]) {
    text.splice(at..at, what.iter().copied()).for_each(drop);
}
