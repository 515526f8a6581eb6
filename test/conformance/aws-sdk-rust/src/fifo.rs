//! FIFO queues: a producer that sends everything twice, and four consumers of ten groups, one in seven of whose messages
//! fails once.
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_sqs::types::{
    ChangeMessageVisibilityBatchRequestEntry as ChangeEntry, DeleteMessageBatchRequestEntry as DeleteEntry, Message,
    SendMessageBatchRequestEntry as SendEntry,
};
use aws_sdk_sqs::Client;
use tokio::time::sleep;

use crate::checks::{check, check_equal, check_refused, did, must};
use crate::queues::{handle, md5_of, receive, shown, text, Queues};

const GROUPS: usize = 10;
const EACH: usize = 12;
const CONSUMERS: usize = 4;

type Job = (usize, usize);

#[derive(Default)]
struct Seen {
    done: HashMap<usize, Vec<usize>>,
    held: HashSet<usize>,
    failed: HashSet<Job>,
    wrong: Vec<String>,
}

pub async fn run(sqs: Client) {
    let all = Queues::new(sqs);
    groups(&all).await;
    locks(&all).await;
    did(&[
        "10 groups in order",
        "deduplication",
        "expired handles",
        "attributes with MD5",
    ]);
}

fn job(message: &Message) -> Job {
    let body = message.body().unwrap_or_default();
    let (group, number) = body.split_once('/').unwrap_or_default();
    (must(group.parse()), must(number.parse()))
}

/// Message id → sequence number.
async fn produce(all: &Queues, url: &str) -> HashMap<String, String> {
    let (mut sent, mut numbers) = (HashMap::new(), vec![]);
    for number in 0..EACH {
        let mut call = all.sqs.send_message_batch().queue_url(url);
        for group in 0..GROUPS {
            let body = format!("{group}/{number}");
            let entry = SendEntry::builder()
                .id(group.to_string())
                .message_group_id(group.to_string());
            let entry = entry
                .message_deduplication_id(&body)
                .message_attributes("number", text("Number", &number.to_string()));
            call = call.entries(must(entry.message_body(body).build()));
        }
        let (first, again) = (must(call.clone().send().await), must(call.send().await));
        check_equal(
            &format!("round {number}: duplicates are answered like the first"),
            again.successful(),
            first.successful(),
        );
        for entry in first.successful() {
            let digest = md5_of(&format!("{}/{number}", entry.id()));
            check_equal("MD5OfMessageBody", entry.md5_of_message_body(), digest.as_str());
            numbers.push(entry.sequence_number().unwrap_or_default().to_string());
            sent.insert(
                entry.message_id().to_string(),
                entry.sequence_number().unwrap_or_default().to_string(),
            );
        }
    }
    check_equal("as many messages as were meant", sent.len(), GROUPS * EACH);
    check(
        "numbers of 20 digits",
        numbers.iter().all(|each| each.len() == 20),
        &numbers,
    );
    check(
        "rising numbers",
        numbers.windows(2).all(|pair| pair[0] < pair[1]),
        &numbers,
    );
    sent
}

fn look(message: &Message, sent: &HashMap<String, String>, seen: &mut Seen) {
    let (group, number) = job(message);
    let attribute = message
        .message_attributes()
        .and_then(|all| all.get("number"))
        .and_then(|value| value.string_value());
    let right = shown(message, "MessageGroupId") == group.to_string()
        && shown(message, "MessageDeduplicationId") == format!("{group}/{number}")
        && sent.get(message.message_id().unwrap_or_default()) == Some(&shown(message, "SequenceNumber"))
        && attribute == Some(&number.to_string());
    if !right {
        seen.wrong.push(format!("{message:?}"));
    }
}

async fn work(sqs: Client, url: String, sent: Arc<HashMap<String, String>>, seen: Arc<Mutex<Seen>>) {
    while must(seen.lock()).done.values().map(Vec::len).sum::<usize>() < GROUPS * EACH {
        let messages = receive(&sqs, &url, 10, 2).await;
        let groups: HashSet<_> = messages.iter().map(|message| job(message).0).collect();
        {
            let mut seen = must(seen.lock());
            for group in &groups {
                if !seen.held.insert(*group) {
                    seen.wrong.push(format!("group {group} in two hands"));
                }
            }
            messages.iter().for_each(|message| look(message, &sent, &mut seen));
        }
        sleep(Duration::from_millis(10)).await;
        finish(&sqs, &url, &messages, &groups, &seen).await;
    }
}

/// What fails goes back with everything behind it in its group, by one request.
async fn finish(sqs: &Client, url: &str, messages: &[Message], groups: &HashSet<usize>, seen: &Mutex<Seen>) {
    let (mut keep, mut back) = (vec![], vec![]);
    let mut stopped = HashSet::new();
    {
        let mut seen = must(seen.lock());
        for (id, message) in messages.iter().enumerate() {
            let (group, number) = job(message);
            if stopped.contains(&group) || (number % 7 == 3 && seen.failed.insert((group, number))) {
                stopped.insert(group);
                let entry = ChangeEntry::builder()
                    .id(id.to_string())
                    .receipt_handle(handle(message));
                back.push(must(entry.visibility_timeout(0).build()));
            } else {
                seen.done.entry(group).or_default().push(number);
                keep.push(must(
                    DeleteEntry::builder()
                        .id(id.to_string())
                        .receipt_handle(handle(message))
                        .build(),
                ));
            }
        }
        seen.held.retain(|group| !groups.contains(group));
    }
    let mut failed = vec![];
    if !keep.is_empty() {
        failed.extend(
            must(
                sqs.delete_message_batch()
                    .queue_url(url)
                    .set_entries(Some(keep))
                    .send()
                    .await,
            )
            .failed,
        );
    }
    if !back.is_empty() {
        let call = sqs
            .change_message_visibility_batch()
            .queue_url(url)
            .set_entries(Some(back));
        failed.extend(must(call.send().await).failed);
    }
    must(seen.lock())
        .wrong
        .extend(failed.iter().map(|entry| format!("{entry:?}")));
}

async fn groups(all: &Queues) {
    let url = all
        .create("groups.fifo", &[("FifoQueue", "true"), ("VisibilityTimeout", "60")])
        .await;
    let sent = Arc::new(produce(all, &url).await);
    let seen = Arc::new(Mutex::new(Seen::default()));
    let consumer = |_| tokio::spawn(work(all.sqs.clone(), url.clone(), sent.clone(), seen.clone()));
    for consumer in (0..CONSUMERS).map(consumer).collect::<Vec<_>>() {
        must(consumer.await);
    }
    let seen = must(seen.lock());
    check("nothing was wrong with what came", seen.wrong.is_empty(), &seen.wrong);
    check("some failed", seen.failed.len() > GROUPS, &seen.failed);
    for group in 0..GROUPS {
        check_equal(
            &format!("group {group} in order"),
            seen.done.get(&group),
            Some(&(0..EACH).collect()),
        );
    }
    let again = all
        .sqs
        .send_message()
        .queue_url(&url)
        .message_body("late")
        .message_group_id("any");
    let again = must(again.message_deduplication_id("0/0").send().await);
    check(
        "a duplicate of what was deleted",
        sent.contains_key(again.message_id().unwrap_or_default()),
        &again,
    );
    check_equal("is not there", all.receive(&url, 10, 1).await.len(), 0);
    all.remove(&url).await;
}

async fn locks(all: &Queues) {
    let sqs = &all.sqs;
    let url = all
        .create(
            "locks.fifo",
            &[("FifoQueue", "true"), ("ContentBasedDeduplication", "true")],
        )
        .await;
    let send = |body: &str| sqs.send_message().queue_url(&url).message_body(body);
    for body in ["1", "2", "3"] {
        must(send(body).message_group_id("g").send().await);
    }
    let first = all.receive_one("the head of the group", &url).await;
    all.visibility(&url, &first, 2).await;
    check_equal(
        "deduplicated by content",
        shown(&first, "MessageDeduplicationId").len(),
        64,
    );
    check_equal(
        "a group in flight yields nothing",
        all.receive(&url, 10, 0).await.len(),
        0,
    );
    let messages = all.receive(&url, 2, 10).await;
    let bodies: Vec<_> = messages.iter().map(|message| message.body()).collect();
    check_equal(
        "after its timeout it comes from its head",
        bodies,
        [Some("1"), Some("2")],
    );
    let late = sqs
        .delete_message()
        .queue_url(&url)
        .receipt_handle(handle(&first))
        .send()
        .await;
    check_refused("an expired handle", late, "InvalidParameterValue");
    check_refused("no group", send("4").send().await, "MissingParameter");
    let delayed = send("4").message_group_id("g").delay_seconds(1).send().await;
    check_refused("a delay of its own", delayed, "InvalidParameterValue");
    all.remove(&url).await;
}
