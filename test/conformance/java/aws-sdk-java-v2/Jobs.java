import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/**
 * Jobs on the synchronous client of the AWS SDK for Java 2, for worker-trial.ts. The SDK checks the MD5 of every body and
 * of all attributes, at the send and at the receive. Its old versions take no endpoint from the environment, so the builder is given it.
 */
public final class Jobs {
  private static final SqsClient sqs =
      SqsClient.builder().endpointOverride(URI.create(System.getenv("AWS_ENDPOINT_URL"))).build();
  private static String url;

  public static void main(String[] args) throws Exception {
    try {
      sqs.getQueueUrl(request -> request.queueName(Job.QUEUE + "-none"));
      Job.expect("a missing queue", "found", "refused");
    } catch (QueueDoesNotExistException refused) {
      String code = refused.awsErrorDetails().errorCode();
      Job.expect("its error code", code, "AWS.SimpleQueueService.NonExistentQueue");
    }
    url = sqs.getQueueUrl(request -> request.queueName(Job.QUEUE)).queueUrl();
    if (args[0].equals("send")) send(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
    else work();
  }

  private static void send(int first, int count) {
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
      var answer = sqs.sendMessageBatch(request -> request.queueUrl(url).entries(entries));
      Job.expect("sent", answer.successful().size(), entries.size());
    }
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
    while (true) {
      var messages =
          sqs.receiveMessage(
                  request ->
                      request
                          .queueUrl(url)
                          .maxNumberOfMessages(10)
                          .waitTimeSeconds(20)
                          .messageAttributeNames("All"))
              .messages();
      pool.invokeAll(messages.stream().map(message -> Executors.callable(() -> job(message))).toList());
    }
  }

  private static void job(Message message) {
    Job.expect("the attributes", message.messageAttributes(), attributesOf(message.body()));
    try {
      Job.run(message.body());
      sqs.deleteMessage(request -> request.queueUrl(url).receiptHandle(message.receiptHandle()));
    } catch (Exception failed) {
      sqs.changeMessageVisibility(
          request -> request.queueUrl(url).receiptHandle(message.receiptHandle()).visibilityTimeout(0));
    }
  }
}
