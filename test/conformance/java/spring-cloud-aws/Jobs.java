import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.config.SqsBootstrapConfiguration;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.awspring.cloud.sqs.operations.SqsTemplate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.support.MessageBuilder;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/**
 * Jobs on Spring Cloud AWS without Boot, for worker-trial.ts: SqsTemplate sends, an SqsListener works. A job that fails
 * comes again after the visibility timeout. The SDK below checks the MD5 of every body and of all attributes.
 */
public final class Jobs {
  public static void main(String[] args) throws Exception {
    if (args[0].equals("send")) send(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
    else work();
  }

  private static void send(int first, int count) {
    try (SqsAsyncClient sqs = SqsAsyncClient.create()) {
      SqsTemplate template = SqsTemplate.newTemplate(sqs);
      for (int start = first; start < first + count; start += 10) {
        List<Message<String>> messages = new ArrayList<>();
        for (int number = start; number < Math.min(start + 10, first + count); number++)
          messages.add(
              MessageBuilder.withPayload(Integer.toString(number))
                  .setHeader("kind", Job.TEXT)
                  .setHeader("number", number)
                  .build());
        var sent = template.sendMany(Job.QUEUE, messages);
        Job.expect("sent", sent.successful().size(), messages.size());
      }
    }
    Job.did("batches", "attributes with MD5");
  }

  private static void work() throws InterruptedException {
    var context = new AnnotationConfigApplicationContext(Application.class);
    context.registerShutdownHook();
    new CountDownLatch(1).await();
  }

  @Configuration
  @Import(SqsBootstrapConfiguration.class)
  static class Application {
    @Bean
    SqsAsyncClient sqsAsyncClient() {
      return SqsAsyncClient.create();
    }

    @Bean
    SqsMessageListenerContainerFactory<Object> defaultSqsListenerContainerFactory(SqsAsyncClient sqs) {
      return SqsMessageListenerContainerFactory.builder()
          .configure(options -> options
                      .pollTimeout(Duration.ofSeconds(20))
                      .maxConcurrentMessages(10)
                      .listenerShutdownTimeout(Duration.ofSeconds(2)))
          .sqsAsyncClient(sqs)
          .build();
    }

    @Bean
    Listener listener() {
      return new Listener();
    }
  }

  static class Listener {
    @SqsListener("${JOB_QUEUE}")
    void job(String number, @Header("kind") String kind, @Header("number") int same) throws Exception {
      Job.expect("the attributes", kind + same, Job.TEXT + number);
      Job.run(number);
    }
  }
}
