//! Programs on aws-sdk-rust. Endpoint, region and credentials come from the environment alone.
mod actions;
mod checks;
mod deliveries;
mod fifo;
mod jobs;
mod queues;

#[tokio::main]
async fn main() {
    let config = aws_config::load_defaults(aws_config::BehaviorVersion::latest()).await;
    let sqs = aws_sdk_sqs::Client::new(&config);
    let args: Vec<_> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["actions"] => actions::run(sqs).await,
        ["fifo"] => fifo::run(sqs).await,
        ["send", first, count] => jobs::send(sqs, checks::must(first.parse()), checks::must(count.parse())).await,
        ["work"] => jobs::work(sqs).await,
        _ => panic!("actions, fifo, send FIRST COUNT or work"),
    }
}
