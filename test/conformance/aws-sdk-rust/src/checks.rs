//! One line a check on standard output; the first wrong answer ends the program with status 1.
use std::fmt::Debug;

use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};

pub fn check(what: &str, holds: bool, seen: impl Debug) {
    if !holds {
        println!("FAILED {what}: saw {seen:?}");
        std::process::exit(1);
    }
    println!("ok {what}");
}

pub fn check_equal<T: PartialEq<U> + Debug, U: Debug>(what: &str, seen: T, expected: U) {
    check(what, seen == expected, &seen);
}

/// Ends the program when a call that has to work was refused.
pub fn must<T, E: Debug>(answer: Result<T, E>) -> T {
    answer.unwrap_or_else(|error| {
        println!("FAILED a call: {error:?}");
        std::process::exit(1)
    })
}

pub fn check_refused<T: Debug, E: ProvideErrorMetadata + Debug, R: Debug>(
    what: &str,
    answer: Result<T, SdkError<E, R>>,
    code: &str,
) {
    match answer {
        Ok(answer) => check(&format!("{what}: refused"), false, answer),
        Err(error) => check(&format!("{what}: {code}"), error.code() == Some(code), error),
    }
}

pub fn did(deeds: &[&str]) {
    for deed in deeds {
        println!("did {deed}");
    }
}
