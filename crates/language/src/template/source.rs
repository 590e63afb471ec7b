//! A template's text in the words that minijinja knows.

/// `source` with one kind of line end, and with the blocks `generation`, which mark what the assistant says for
/// training, as blocks that do nothing.
pub(super) fn prepared(source: &str) -> String {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(source.len());
    let mut rest = source.as_str();
    while let Some(start) = rest.find("{%") {
        let (before, tag) = rest.split_at(start);
        out.push_str(before);
        let (marks, inner) = split_marks(&tag[2..]);
        let word = inner.trim_start();
        let gap = &inner[..inner.len() - word.len()];
        let replaced = [("generation", "with"), ("endgeneration", "endwith")]
            .into_iter()
            .find_map(|(name, other)| word.strip_prefix(name).map(|after| (other, after)))
            .filter(|(_, after)| is_end(after));
        out.push_str("{%");
        out.push_str(marks);
        rest = match replaced {
            Some((other, after)) => {
                out.push_str(gap);
                out.push_str(other);
                after
            }
            None => inner,
        };
    }
    out.push_str(rest);
    out
}

fn split_marks(tag: &str) -> (&str, &str) {
    tag.split_at(usize::from(tag.starts_with(['-', '+'])))
}

fn is_end(after: &str) -> bool {
    let after = after.trim_start();
    after.strip_prefix(['-', '+']).unwrap_or(after).starts_with("%}")
}

#[cfg(test)]
mod tests {
    use super::prepared;

    #[test]
    fn generation_blocks_become_blocks_that_do_nothing() {
        assert_eq!(
            prepared("a{%- generation -%}b{% endgeneration %}\r\n{% set generation = 1 %}"),
            "a{%- with -%}b{% endwith %}\n{% set generation = 1 %}"
        );
    }
}
