import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What a Java worker tells worker-trial.ts, which see: empty files, one an event. */
final class Job {
  static final String QUEUE = System.getenv("JOB_QUEUE");
  static final String TEXT = "größe 😀";
  static final byte[] BYTES = {0, (byte) 255};
  private static final Path RECORDS = Path.of(System.getenv("JOB_RECORDS"));

  private Job() {}

  /** Throws once for the job that fails; stays for minutes in the one that hangs. */
  static void run(String number) throws IOException, InterruptedException {
    if (number.equals(System.getenv("JOB_FAILS")) && !happened("failed", number)) {
      record("failed", number);
      throw new IllegalStateException("fails once");
    }
    if (number.equals(System.getenv("JOB_HANGS"))) {
      boolean first = !happened("started", number);
      record("started", number);
      if (first) Thread.sleep(300_000);
    }
    record("done", number);
  }

  static void expect(String what, Object seen, Object expected) {
    if (seen.equals(expected)) return;
    System.out.println("FAILED " + what + ": saw " + seen + ", not " + expected);
    Runtime.getRuntime().halt(1);
  }

  static void did(String... deeds) {
    for (String deed : deeds) System.out.println("did " + deed);
  }

  private static void record(String event, String number) throws IOException {
    Files.write(RECORDS.resolve(event + "-" + number + "." + System.getenv("JOB_WORKER")), List.of());
  }

  private static boolean happened(String event, String number) throws IOException {
    try (var found = Files.newDirectoryStream(RECORDS, event + "-" + number + ".*")) {
      return found.iterator().hasNext();
    }
  }
}
