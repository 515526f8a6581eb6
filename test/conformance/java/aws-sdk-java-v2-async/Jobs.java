import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/**
 * Jobs on the asynchronous client of the AWS SDK for Java 2, for worker-trial.ts: five polls at a time, and every call on
 * a connection that happens to be free. The SDK checks the MD5 of every body and of all attributes.
 */
public final class Jobs {
  private static final int POLLS = 5;
  private static final SqsAsyncClient sqs =
      SqsAsyncClient.builder().endpointOverride(URI.create(System.getenv("AWS_ENDPOINT_URL"))).build();
  private static String url;

  public static void main(String[] args) throws Exception {
    try {
      sqs.getQueueUrl(request -> request.queueName(Job.QUEUE + "-none")).join();
      Job.expect("a missing queue", "found", "refused");
    } catch (CompletionException failed) {
      var refused = (QueueDoesNotExistException) failed.getCause();
      String code = refused.awsErrorDetails().errorCode();
      Job.expect("its error code", code, "AWS.SimpleQueueService.NonExistentQueue");
    }
    url = sqs.getQueueUrl(request -> request.queueName(Job.QUEUE)).join().queueUrl();
    if (args[0].equals("send")) send(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
    else work();
  }

  /** All batches at once. */
  private static void send(int first, int count) {
    List<CompletableFuture<Integer>> sent = new ArrayList<>();
    for (int start = first; start < first + count; start += 10) {
      List<SendMessageBatchRequestEntry> entries = new ArrayList<>();
      for (int number = start; number < Math.min(start + 10, first + count); number++) {
        String text = Integer.toString(number);
        entries.add(
            SendMessageBatchRequestEntry.builder()
                .id(text)
                .messageBody(text)
                .messageAttributes(attributesOf(text))
                .build());
      }
      sent.add(
          sqs.sendMessageBatch(request -> request.queueUrl(url).entries(entries))
              .thenApply(answer -> answer.successful().size()));
    }
    Job.expect("sent", sent.stream().mapToInt(CompletableFuture::join).sum(), count);
    sqs.close();
    Job.did("batches", "attributes with MD5");
  }

  private static Map<String, MessageAttributeValue> attributesOf(String number) {
    var text = MessageAttributeValue.builder().dataType("String").stringValue(Job.TEXT).build();
    var count = MessageAttributeValue.builder().dataType("Number.int").stringValue(number).build();
    var bytes =
        MessageAttributeValue.builder().dataType("Binary").binaryValue(SdkBytes.fromByteArray(Job.BYTES)).build();
    return Map.of("kind", text, "number", count, "bytes", bytes);
  }

  private static void work() throws InterruptedException {
    var pool = Executors.newFixedThreadPool(10);
    for (int poll = 0; poll < POLLS; poll++) poll(pool);
    // The client's own threads keep no process alive.
    new CountDownLatch(1).await();
  }

  private static void poll(Executor pool) {
    sqs.receiveMessage(
            request ->
                request.queueUrl(url).maxNumberOfMessages(2).waitTimeSeconds(20).messageAttributeNames("All"))
        .thenCompose(
            answer ->
                CompletableFuture.allOf(
                    answer.messages().stream()
                        .map(message -> CompletableFuture.supplyAsync(() -> done(message), pool))
                        .map(done -> done.thenCompose(Jobs::settle))
                        .toArray(CompletableFuture[]::new)))
        .whenComplete(
            (nothing, failed) -> {
              if (failed != null) Job.expect("a round", failed, "no failure");
              poll(pool);
            });
  }

  private record Done(Message message, boolean well) {}

  private static Done done(Message message) {
    Job.expect("the attributes", message.messageAttributes(), attributesOf(message.body()));
    try {
      Job.run(message.body());
      return new Done(message, true);
    } catch (Exception failed) {
      return new Done(message, false);
    }
  }

  private static CompletableFuture<?> settle(Done done) {
    String handle = done.message().receiptHandle();
    if (done.well()) return sqs.deleteMessage(request -> request.queueUrl(url).receiptHandle(handle));
    return sqs.changeMessageVisibility(
        request -> request.queueUrl(url).receiptHandle(handle).visibilityTimeout(0));
  }
}
