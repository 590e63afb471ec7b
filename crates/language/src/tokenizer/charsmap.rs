//! SentencePiece's compiled map of characters: a double-array trie of 32-bit units, and the texts its leaves point to.
//! The crate `spm_precompiled` follows it without looking at its bounds, so that they are looked at here.

/// Whether every path through the trie stays inside, and every leaf points at a text.
pub(super) fn check(map: &[u8]) -> Result<(), String> {
    let (units, texts) = parts(map).ok_or("its map of characters is cut short")?;
    let texts = std::str::from_utf8(texts).map_err(|_| "its map of characters is not UTF-8")?;
    let root = *units.first().ok_or("its map of characters is empty")?;
    let mut seen = vec![false; units.len()];
    let mut waiting = vec![offset(root)];
    while let Some(children) = waiting.pop() {
        // A child's place is that of the children with the lowest bits flipped by its byte.
        if (children | 0xff) >= units.len() {
            return Err("its map of characters points outside of itself".to_owned());
        }
        if std::mem::replace(&mut seen[children], true) {
            continue;
        }
        for byte in 1..=0xff {
            let at = children ^ byte;
            let unit = units[at];
            if unit & (1 << 31 | 0xff) != byte as u32 {
                continue;
            }
            let below = at ^ offset(unit);
            if unit >> 8 & 1 == 1 {
                let leaf = *units.get(below).ok_or("its map of characters points outside of itself")?;
                let text = (leaf & !(1 << 31)) as usize;
                if !texts.is_char_boundary(text) {
                    return Err("its map of characters points outside of its texts".to_owned());
                }
            }
            waiting.push(below);
        }
    }
    Ok(())
}

fn parts(map: &[u8]) -> Option<(Vec<u32>, &[u8])> {
    let (size, rest) = map.split_first_chunk::<4>()?;
    let (trie, texts) = rest.split_at_checked(u32::from_le_bytes(*size) as usize / 4 * 4)?;
    let units = trie.as_chunks::<4>().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
    Some((units, texts))
}

fn offset(unit: u32) -> usize {
    let unit = unit as usize;
    unit >> 10 << ((unit & 1 << 9) >> 6)
}

#[cfg(test)]
mod tests {
    use super::check;

    fn map(units: &[u32], texts: &[u8]) -> Vec<u8> {
        let size = u32::try_from(units.len() * 4).unwrap();
        [
            &size.to_le_bytes()[..],
            &units.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<_>>(),
            texts,
        ]
        .concat()
    }

    #[test]
    fn a_map_that_points_outside_of_itself_is_refused() {
        let mut units = vec![0; 512];
        units[0] = 256 << 10;
        assert_eq!(check(&map(&units, b"x\0")), Ok(()));
        // The byte `a` leads to a leaf for the text at 0, then at 9.
        units[256 ^ 0x61] = 0x61 | 1 << 8 | (0x61 << 10);
        assert_eq!(check(&map(&units, b"x\0")), Ok(()));
        units[256] = 9;
        assert!(check(&map(&units, b"x\0")).unwrap_err().contains("texts"));
        units[0] = 512 << 10;
        assert!(check(&map(&units, b"x\0")).unwrap_err().contains("outside of itself"));
        assert!(check(&[]).is_err() && check(&[0; 4]).is_err() && check(&[255; 9]).is_err());
    }
}
