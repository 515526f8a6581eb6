import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.SendMessageRequest;
import software.amazon.awssdk.services.sqs.model.SqsException;

/**
 * FIFO queues on the AWS SDK for Java 2: a producer that sends everything twice, and four consumers of ten groups, one in
 * seven of whose messages fails once. The SDK checks the MD5 of every body and of all attributes.
 */
public final class Fifo {
  private static final int GROUPS = 10;
  private static final int EACH = 12;
  private static final int CONSUMERS = 4;
  private static final SqsClient sqs = SqsClient.create();
  private static final String prefix = "aws-sdk-java-v2-fifo-" + UUID.randomUUID();

  private static final Map<String, List<Integer>> done = new HashMap<>();
  private static final Set<String> held = new HashSet<>();
  private static final Set<String> failed = new HashSet<>();

  public static void main(String[] args) throws Exception {
    groups();
    locks();
    for (String deed : List.of("10 groups in order", "deduplication", "expired handles", "attributes with MD5"))
      System.out.println("did " + deed);
  }

  private static void check(String what, boolean holds, Object seen) {
    if (!holds) {
      System.out.println("FAILED " + what + ": saw " + seen);
      Runtime.getRuntime().halt(1);
    }
    System.out.println("ok " + what);
  }

  private static void equal(String what, Object seen, Object expected) {
    check(what, expected.equals(seen), seen);
  }

  private static void refused(String what, String code, Runnable call) {
    try {
      call.run();
    } catch (SqsException refused) {
      equal(what, refused.awsErrorDetails().errorCode(), code);
      return;
    }
    check(what, false, "an answer");
  }

  private static String create(String name, Map<QueueAttributeName, String> more) {
    Map<QueueAttributeName, String> attributes = new HashMap<>(more);
    attributes.put(QueueAttributeName.FIFO_QUEUE, "true");
    return sqs.createQueue(request -> request.queueName(prefix + "-" + name + ".fifo").attributes(attributes))
        .queueUrl();
  }

  private static List<Message> receive(String url, int limit, int wait) {
    return sqs.receiveMessage(
            request ->
                request
                    .queueUrl(url)
                    .maxNumberOfMessages(limit)
                    .waitTimeSeconds(wait)
                    .messageAttributeNames("All")
                    .messageSystemAttributeNames(MessageSystemAttributeName.ALL))
        .messages();
  }

  private static MessageAttributeValue number(int number) {
    return MessageAttributeValue.builder().dataType("Number").stringValue(Integer.toString(number)).build();
  }

  /** Message id → sequence number. */
  private static Map<String, String> produce(String url) {
    Map<String, String> sent = new HashMap<>();
    List<String> numbers = new ArrayList<>();
    for (int round = 0; round < EACH; round++) {
      List<SendMessageBatchRequestEntry> entries = new ArrayList<>();
      for (int group = 0; group < GROUPS; group++)
        entries.add(
            SendMessageBatchRequestEntry.builder()
                .id("group-" + group)
                .messageBody("group-" + group + "/" + round)
                .messageGroupId("group-" + group)
                .messageDeduplicationId("group-" + group + "/" + round)
                .messageAttributes(Map.of("number", number(round)))
                .build());
      var first = sqs.sendMessageBatch(request -> request.queueUrl(url).entries(entries)).successful();
      var again = sqs.sendMessageBatch(request -> request.queueUrl(url).entries(entries)).successful();
      equal("round " + round + ": duplicates are answered like the first", again, first);
      for (var entry : first) {
        sent.put(entry.messageId(), entry.sequenceNumber());
        numbers.add(entry.sequenceNumber());
      }
    }
    equal("as many messages as were meant", sent.size(), GROUPS * EACH);
    check("numbers of 20 digits", numbers.stream().allMatch(each -> each.matches("[0-9]{20}")), numbers);
    equal("rising numbers", numbers.stream().sorted().toList(), numbers);
    return sent;
  }

  private static String groupOf(Message message) {
    return message.body().split("/")[0];
  }

  private static int numberOf(Message message) {
    return Integer.parseInt(message.body().split("/")[1]);
  }

  private static Void work(String url, Map<String, String> sent) throws InterruptedException {
    while (true) {
      synchronized (done) {
        if (done.values().stream().mapToInt(List::size).sum() == GROUPS * EACH) return null;
      }
      List<Message> messages = receive(url, 10, 2);
      look(messages, sent);
      Thread.sleep(10);
      finish(url, messages);
    }
  }

  private static void look(List<Message> messages, Map<String, String> sent) {
    Set<String> groups = new HashSet<>();
    for (Message message : messages) {
      groups.add(groupOf(message));
      var shown = message.attributes();
      boolean right =
          groupOf(message).equals(shown.get(MessageSystemAttributeName.MESSAGE_GROUP_ID))
              && message.body().equals(shown.get(MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID))
              && sent.get(message.messageId()).equals(shown.get(MessageSystemAttributeName.SEQUENCE_NUMBER))
              && number(numberOf(message)).equals(message.messageAttributes().get("number"));
      if (!right) check("what a message says of itself", false, message);
    }
    synchronized (done) {
      for (String group : groups) if (!held.add(group)) check("a group in one hand", false, group);
    }
  }

  /** What fails goes back with everything behind it in its group, by one request. */
  private static void finish(String url, List<Message> messages) {
    List<DeleteMessageBatchRequestEntry> keep = new ArrayList<>();
    List<ChangeMessageVisibilityBatchRequestEntry> back = new ArrayList<>();
    Set<String> stopped = new HashSet<>();
    synchronized (done) {
      for (Message message : messages) {
        String group = groupOf(message);
        String id = Integer.toString(keep.size() + back.size());
        String handle = message.receiptHandle();
        held.remove(group);
        if (stopped.contains(group) || numberOf(message) % 7 == 3 && failed.add(message.body())) {
          stopped.add(group);
          back.add(
              ChangeMessageVisibilityBatchRequestEntry.builder()
                  .id(id)
                  .receiptHandle(handle)
                  .visibilityTimeout(0)
                  .build());
          continue;
        }
        done.computeIfAbsent(group, none -> new ArrayList<>()).add(numberOf(message));
        keep.add(DeleteMessageBatchRequestEntry.builder().id(id).receiptHandle(handle).build());
      }
    }
    if (!keep.isEmpty()) {
      var wrong = sqs.deleteMessageBatch(request -> request.queueUrl(url).entries(keep)).failed();
      if (!wrong.isEmpty()) check("a batch of deletes", false, wrong);
    }
    if (!back.isEmpty()) {
      var wrong = sqs.changeMessageVisibilityBatch(request -> request.queueUrl(url).entries(back)).failed();
      if (!wrong.isEmpty()) check("a batch of visibilities", false, wrong);
    }
  }

  private static void groups() throws Exception {
    String url = create("groups", Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "60"));
    Map<String, String> sent = produce(url);
    var pool = Executors.newFixedThreadPool(CONSUMERS);
    Callable<Void> consumer = () -> work(url, sent);
    for (var ended : pool.invokeAll(IntStream.range(0, CONSUMERS).mapToObj(n -> consumer).toList())) ended.get();
    pool.shutdown();
    check("some failed", failed.size() >= GROUPS, failed);
    List<Integer> order = IntStream.range(0, EACH).boxed().toList();
    for (int group = 0; group < GROUPS; group++)
      equal("group-" + group + " in order", done.get("group-" + group), order);
    Consumer<SendMessageRequest.Builder> late =
        request ->
            request.queueUrl(url).messageBody("late").messageGroupId("any").messageDeduplicationId("group-0/0");
    var again = sqs.sendMessage(late);
    check("a duplicate of what was deleted", sent.containsKey(again.messageId()), again);
    equal("is not there", receive(url, 10, 1), List.of());
    sqs.deleteQueue(request -> request.queueUrl(url));
  }

  private static void locks() {
    String url = create("locks", Map.of(QueueAttributeName.CONTENT_BASED_DEDUPLICATION, "true"));
    for (String body : List.of("1", "2", "3"))
      sqs.sendMessage(request -> request.queueUrl(url).messageBody(body).messageGroupId("g"));
    Message first = receive(url, 1, 10).get(0);
    sqs.changeMessageVisibility(
        request -> request.queueUrl(url).receiptHandle(first.receiptHandle()).visibilityTimeout(2));
    String id = first.attributes().get(MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID);
    check("deduplicated by content", id.matches("[0-9a-f]{64}"), id);
    equal("a group in flight yields nothing", receive(url, 10, 0), List.of());
    var bodies = receive(url, 2, 10).stream().map(Message::body).toList();
    equal("after its timeout it comes from its head", bodies, List.of("1", "2"));
    refused(
        "an expired handle",
        "InvalidParameterValue",
        () -> sqs.deleteMessage(request -> request.queueUrl(url).receiptHandle(first.receiptHandle())));
    refused(
        "no group",
        "MissingParameter",
        () -> sqs.sendMessage(request -> request.queueUrl(url).messageBody("4")));
    refused(
        "a delay of its own",
        "InvalidParameterValue",
        () ->
            sqs.sendMessage(
                request -> request.queueUrl(url).messageBody("4").messageGroupId("g").delaySeconds(1)));
    sqs.deleteQueue(request -> request.queueUrl(url));
  }
}
