//! Finds the line of a key in a configuration.
//!
//! Separate because only an error needs it: the text is then read a second time, with its positions.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// Returns the line of `key`, written like `programs[0].flags[2]`, or of the nearest that holds it.
pub(super) fn line_of(text: &str, key: &str) -> Option<u64> {
    let root: Spanned<Node> = serde_saphyr::from_str(text).ok()?;
    let mut found = &root;
    for step in key.split(['.', '[']) {
        let step = step.trim_end_matches(']');
        let next = match &found.value {
            Node::Map(entries) => entries
                .iter()
                .find(|(name, _)| name == step)
                .map(|(_, it)| it),
            Node::List(items) => step.parse::<usize>().ok().and_then(|at| items.get(at)),
            Node::Leaf => None,
        };
        let Some(next) = next else { break };
        found = next;
    }
    Some(found.referenced.line()).filter(|line| *line > 0)
}

/// A value with the position of everything in it.
enum Node {
    Map(Vec<(String, Spanned<Node>)>),
    List(Vec<Spanned<Node>>),
    Leaf,
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Nodes)
    }
}

struct Nodes;

impl<'de> Visitor<'de> for Nodes {
    type Value = Node;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Map(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_str<E>(self, _: &str) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Node, D::Error> {
        IgnoredAny::deserialize(inner).map(|_| Node::Leaf)
    }
}

#[cfg(test)]
mod tests {
    use super::line_of;

    #[test]
    fn the_line_of_a_key_is_found_in_either_style() {
        let text = "# ours\nreview: {enabled: true}\nprograms:\n  - names: [tix]\n    flags:\n      - \"-a\"\n      - \"-b =reed\"\n    subs:\n      - {names: [list],\n         does: read}\n";
        let rows = [
            ("programs[0].flags[1]", Some(7)),
            ("programs[0].subs[0].does", Some(10)),
            ("programs[0].names", Some(4)),
            ("programs[0].operands", Some(4)),
            ("programs[4]", Some(4)),
            ("review.enabled", Some(2)),
        ];
        for (key, line) in rows {
            assert_eq!(line_of(text, key), line, "{key}");
        }
        assert_eq!(line_of("a: [", "a"), None);
    }
}
