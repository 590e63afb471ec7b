//! The JDK, Maven and its repository.

use std::process::Command;

/// The oldest JDK that the Kotlin build runs on.
pub(crate) const MINIMUM: u32 = 17;

/// The major version of the JDK in use.
pub(crate) fn version() -> Option<u32> {
    let javac = match std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        Some(home) => std::path::Path::new(&home).join("bin/javac"),
        None => "javac".into(),
    };
    // `javac 17.0.15` on stdout; `javac 1.8.0_402` on stderr for 8.
    let output = Command::new(javac).arg("-version").output().ok()?;
    parse_version(&String::from_utf8_lossy(&output.stdout))
}

fn parse_version(text: &str) -> Option<u32> {
    let number = text.lines().find_map(|line| line.strip_prefix("javac "))?;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jdk_version_is_the_major_number() {
        assert_eq!(parse_version("javac 17.0.15\n"), Some(17));
        assert_eq!(parse_version("javac 25-ea\n"), Some(25));
        assert_eq!(parse_version("Picked up JAVA_TOOL_OPTIONS: -Dx\njavac 21\n"), Some(21));
        assert_eq!(parse_version("no java here"), None);
    }
}
