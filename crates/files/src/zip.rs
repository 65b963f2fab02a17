//! Reads the name of the first file of a ZIP archive, which identifies its kind. Archives are not
//! read further.

/// The name of an archive's first file, which follows after 30 bytes (APPNOTE 4.3.7). `None` if the
/// bytes are not an archive, or end before the name does.
#[must_use]
pub fn first_name(head: &[u8]) -> Option<&[u8]> {
    let fixed = head.first_chunk::<30>().filter(|fixed| fixed.starts_with(b"PK\x03\x04"))?;
    let length = usize::from(u16::from_le_bytes([fixed[26], fixed[27]]));
    head.get(30..30 + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_long_as_their_header_says() {
        let mut archive = b"PK\x03\x04".to_vec();
        archive.resize(26, 0);
        archive.extend([5, 0, 0, 0]);
        archive.extend(b"a.npyrest");
        assert_eq!(first_name(&archive), Some(&b"a.npy"[..]));
        assert_eq!(first_name(&archive[..34]), None);
        assert_eq!(first_name(b"PK"), None);
        assert_eq!(first_name(&[0; 40]), None);
    }
}
