//! Who has a message, when it comes again, and where it ends.
use std::time::Duration;

use tokio::time::sleep;

use crate::checks::{check, check_equal, check_refused, must};
use crate::queues::{shown, Queues};

pub async fn deliveries(all: &Queues) {
    let sqs = &all.sqs;
    let url = all.create("deliveries", &[]).await;
    all.send(&url, "given back").await;
    let first = all.receive_one("first delivery", &url).await;
    check_equal("in flight", all.counts(&url).await, "0/1/0");
    all.visibility(&url, &first, 0).await;
    let second = all.receive_one("visibility 0", &url).await;
    check_equal("receive count 2", shown(&second, "ApproximateReceiveCount"), "2");
    all.delete(&url, &first).await;
    check_equal("a superseded handle deletes nothing", all.counts(&url).await, "0/1/0");
    all.visibility(&url, &second, 1).await;
    sleep(Duration::from_millis(1_500)).await;
    all.delete(&url, &second).await;
    check_equal("an expired handle deletes", all.counts(&url).await, "0/0/0");
    all.delete(&url, &second).await;

    must(
        sqs.send_message()
            .queue_url(&url)
            .message_body("late")
            .delay_seconds(2)
            .send()
            .await,
    );
    check_equal("delayed", all.counts(&url).await, "0/0/1");
    all.receive_one("the delay ends", &url).await;
    must(sqs.purge_queue().queue_url(&url).send().await);
    check_equal("purge", all.counts(&url).await, "0/0/0");

    let soon = async {
        sleep(Duration::from_millis(500)).await;
        all.send(&url, "wake up").await
    };
    let (woken, _) = tokio::join!(all.receive(&url, 1, 20), soon);
    let bodies: Vec<_> = woken.iter().map(|message| message.body()).collect();
    check_equal("a long poll is woken by a send", bodies, [Some("wake up")]);
    all.delete(&url, &woken[0]).await;

    let poll = tokio::time::timeout(Duration::from_millis(500), all.receive(&url, 1, 20)).await;
    check("a client gives up its long poll", poll.is_err(), poll);
    sleep(Duration::from_millis(300)).await;
    all.send(&url, "not swallowed").await;
    let kept = all.receive_one("afterwards", &url).await;
    check_equal("it swallowed nothing", shown(&kept, "ApproximateReceiveCount"), "1");
    all.remove(&url).await;
    check_equal("recreate at once", all.create("deliveries", &[]).await, url.as_str());
    check_equal("it is empty", all.counts(&url).await, "0/0/0");
    all.remove(&url).await;
}

pub async fn dead_letters(all: &Queues) {
    let dead = all.create("dead", &[]).await;
    let arn = all.attribute(&dead, "QueueArn").await.unwrap_or_default();
    let policy = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":2}}"#);
    let url = all.create("work", &[("RedrivePolicy", &policy)]).await;
    let sources = must(all.sqs.list_dead_letter_source_queues().queue_url(&dead).send().await);
    check_equal("its sources", sources.queue_urls(), [url.as_str()]);
    let sent = all.send(&url, "poison").await;
    for attempt in ["1", "2"] {
        let message = all.receive_one(&format!("attempt {attempt}"), &url).await;
        check_equal("its count", shown(&message, "ApproximateReceiveCount"), attempt);
        all.visibility(&url, &message, 0).await;
    }
    check_equal("the third receive is empty", all.receive(&url, 1, 1).await.len(), 0);
    let message = all.receive_one("dead letter", &dead).await;
    check_equal("the same MessageId", message.message_id(), Some(sent.as_str()));
    let source = all.attribute(&url, "QueueArn").await.unwrap_or_default();
    check_equal(
        "DeadLetterQueueSourceArn",
        shown(&message, "DeadLetterQueueSourceArn"),
        source,
    );
    check_equal("its count goes on", shown(&message, "ApproximateReceiveCount"), "3");
    all.remove(&url).await;
    all.remove(&dead).await;
}

pub async fn moves(all: &Queues) {
    let sqs = &all.sqs;
    let (dead, other) = (
        all.create("moves-dead", &[]).await,
        all.create("moves-other", &[]).await,
    );
    let source = all.attribute(&dead, "QueueArn").await.unwrap_or_default();
    let destination = all.attribute(&other, "QueueArn").await.unwrap_or_default();
    let start = |rate| {
        let call = sqs
            .start_message_move_task()
            .source_arn(&source)
            .destination_arn(&destination);
        call.max_number_of_messages_per_second(rate).send()
    };
    let status = || async {
        let tasks = must(sqs.list_message_move_tasks().source_arn(&source).send().await);
        tasks
            .results()
            .first()
            .and_then(|task| task.status())
            .map(str::to_string)
    };
    check_refused(
        "a move from no dead-letter queue",
        start(1).await,
        "InvalidParameterValue",
    );
    let policy = format!(r#"{{"deadLetterTargetArn":"{source}","maxReceiveCount":1}}"#);
    let work = all.create("moves-work", &[("RedrivePolicy", &policy)]).await;
    check_equal("no task yet", status().await, None::<String>);
    for number in 0..10 {
        all.send(&dead, &format!("letter {number}")).await;
    }
    let handle = must(start(1).await).task_handle.unwrap_or_default();
    check_refused("a second task", start(1).await, "InvalidParameterValue");
    check_equal("it runs", status().await.as_deref(), Some("RUNNING"));
    let cancel = || sqs.cancel_message_move_task().task_handle(&handle).send();
    let moved = must(cancel().await).approximate_number_of_messages_moved();
    check("cancelled in the middle", moved < 10, moved);
    check_refused("cancelled twice", cancel().await, "ResourceNotFoundException");
    while status().await.as_deref() != Some("CANCELLED") {
        sleep(Duration::from_millis(200)).await;
    }
    must(start(500).await);
    while status().await.as_deref() == Some("RUNNING") {
        sleep(Duration::from_millis(200)).await;
    }
    check_equal(
        "then all are moved",
        (all.counts(&dead).await, all.counts(&other).await),
        ("0/0/0".into(), "10/0/0".into()),
    );
    for url in [&work, &dead, &other] {
        all.remove(url).await;
    }
}
