import com.amazonaws.client.builder.AwsClientBuilder.EndpointConfiguration;
import com.amazonaws.services.sqs.AmazonSQS;
import com.amazonaws.services.sqs.AmazonSQSClientBuilder;
import com.amazonaws.services.sqs.model.Message;
import com.amazonaws.services.sqs.model.MessageAttributeValue;
import com.amazonaws.services.sqs.model.QueueDoesNotExistException;
import com.amazonaws.services.sqs.model.ReceiveMessageRequest;
import com.amazonaws.services.sqs.model.SendMessageBatchRequestEntry;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;

/**
 * Jobs on the AWS SDK for Java 1, for worker-trial.ts. The SDK checks the MD5 of every body and of all attributes, at the
 * send and at the receive. It takes no endpoint from the environment, so the builder is given it.
 */
public final class Jobs {
  private static final AmazonSQS sqs =
      AmazonSQSClientBuilder.standard()
          .withEndpointConfiguration(
              new EndpointConfiguration(System.getenv("AWS_ENDPOINT_URL"), System.getenv("AWS_REGION")))
          .build();
  private static String url;

  public static void main(String[] args) throws Exception {
    try {
      sqs.getQueueUrl(Job.QUEUE + "-none");
      Job.expect("a missing queue", "found", "refused");
    } catch (QueueDoesNotExistException refused) {
      Job.expect("its error code", refused.getErrorCode(), "AWS.SimpleQueueService.NonExistentQueue");
    }
    url = sqs.getQueueUrl(Job.QUEUE).getQueueUrl();
    if (args[0].equals("send")) send(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
    else work();
  }

  private static void send(int first, int count) {
    for (int start = first; start < first + count; start += 10) {
      List<SendMessageBatchRequestEntry> entries = new ArrayList<>();
      for (int number = start; number < Math.min(start + 10, first + count); number++) {
        String text = Integer.toString(number);
        entries.add(new SendMessageBatchRequestEntry(text, text).withMessageAttributes(attributesOf(text)));
      }
      Job.expect("sent", sqs.sendMessageBatch(url, entries).getSuccessful().size(), entries.size());
    }
    Job.did("batches", "attributes with MD5");
  }

  private static Map<String, MessageAttributeValue> attributesOf(String number) {
    var text = new MessageAttributeValue().withDataType("String").withStringValue(Job.TEXT);
    var count = new MessageAttributeValue().withDataType("Number.int").withStringValue(number);
    var bytes = new MessageAttributeValue().withDataType("Binary").withBinaryValue(ByteBuffer.wrap(Job.BYTES));
    return Map.of("kind", text, "number", count, "bytes", bytes);
  }

  private static void work() throws InterruptedException {
    var pool = Executors.newFixedThreadPool(10);
    var receive =
        new ReceiveMessageRequest(url)
            .withMaxNumberOfMessages(10)
            .withWaitTimeSeconds(20)
            .withMessageAttributeNames("All");
    while (true) {
      var messages = sqs.receiveMessage(receive).getMessages();
      pool.invokeAll(messages.stream().map(message -> Executors.callable(() -> job(message))).toList());
    }
  }

  private static void job(Message message) {
    Job.expect("the attributes", message.getMessageAttributes(), attributesOf(message.getBody()));
    try {
      Job.run(message.getBody());
      sqs.deleteMessage(url, message.getReceiptHandle());
    } catch (Exception failed) {
      sqs.changeMessageVisibility(url, message.getReceiptHandle(), 0);
    }
  }
}
