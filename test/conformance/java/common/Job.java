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
      boolean elsewhere = happened("started", number) && !Files.exists(file("started", number));
      record("started", number);
      if (!elsewhere) Thread.sleep(300_000);
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
    Files.write(file(event, number), List.of());
  }

  private static Path file(String event, String number) {
    return RECORDS.resolve(event + "-" + number + "." + System.getenv("JOB_WORKER"));
  }

  private static boolean happened(String event, String number) throws IOException {
    try (var found = Files.newDirectoryStream(RECORDS, event + "-" + number + ".*")) {
      return found.iterator().hasNext();
    }
  }
}
