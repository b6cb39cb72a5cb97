import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Compiles and runs changed engines in one process: started for each, the compiler would take most of the time.
 *
 * <p>Arguments: the file of vectors, the seconds that a run may take, and the folders of sources. Each line on
 * standard input is a source file's name and, behind a blank, its changed text in base64, or nothing but an
 * empty line for the engine as it is. The answer is a line: `refused` by the compiler, or what the engine wrote,
 * in base64. After `late`, when a run took too long, the process ends, since nothing else ends such a run.
 */
public final class MutantServer {
    private static final String RUNNER = "dev.droidgate.shim.core.VectorRunner";
    private static final int STACK = 512 * 1024;
    private static final List<String> OPTIONS =
            List.of("--release", "8", "-Xlint:all,-options", "-Werror", "-proc:none");

    private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    private final StandardJavaFileManager standard = compiler.getStandardFileManager(null, null, null);
    private final Map<String, String> sources = new HashMap<>();
    private final byte[] vectors;
    private final long patience;

    private MutantServer(String[] arguments) throws IOException {
        vectors = Files.readAllBytes(Path.of(arguments[0]));
        patience = 1000 * Long.parseLong(arguments[1]);
        for (int index = 2; index < arguments.length; index++) {
            try (Stream<Path> found = Files.walk(Path.of(arguments[index]))) {
                for (Path one : found.filter(path -> path.toString().endsWith(".java")).collect(Collectors.toList())) {
                    sources.put(one.getFileName().toString(), Files.readString(one));
                }
            }
        }
    }

    /** Answers lines until there are no more. */
    public static void main(String[] arguments) throws Exception {
        MutantServer server = new MutantServer(arguments);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = System.out;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Map<String, String> changed = new HashMap<>(server.sources);
            int blank = line.indexOf(' ');
            if (blank > 0) {
                byte[] text = Base64.getDecoder().decode(line.substring(blank + 1));
                changed.put(line.substring(0, blank), new String(text, StandardCharsets.UTF_8));
            }
            String answer = server.answer(changed);
            out.println(answer);
            out.flush();
            if (answer.equals("late")) {
                Runtime.getRuntime().halt(0);
            }
        }
    }

    private String answer(Map<String, String> changed) throws Exception {
        Map<String, ByteArrayOutputStream> classes = new HashMap<>();
        List<JavaFileObject> units = new ArrayList<>();
        changed.forEach((name, text) -> units.add(new Source(name, text)));
        JavaFileManager manager = new Memory(standard, classes);
        if (!compiler.getTask(new StringWriter(), manager, null, OPTIONS, null, units).call()) {
            return "refused";
        }
        Method main = new Loader(classes).loadClass(RUNNER).getMethod("main", String[].class);
        ByteArrayOutputStream told = new ByteArrayOutputStream();
        System.setIn(new ByteArrayInputStream(vectors));
        System.setOut(new PrintStream(told, true, "UTF-8"));
        Thread run = new Thread(null, () -> invoke(main), "run", STACK);
        run.setDaemon(true);
        run.start();
        run.join(patience);
        return run.isAlive() ? "late" : Base64.getEncoder().encodeToString(told.toByteArray());
    }

    private static void invoke(Method main) {
        try {
            main.invoke(null, (Object) new String[0]);
        } catch (ReflectiveOperationException ended) {
            // What it wrote until then is the answer, and is not what is expected.
        }
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("memory:///dev/droidgate/shim/core/" + name), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignored) {
            return text;
        }
    }

    private static final class Memory extends ForwardingJavaFileManager<StandardJavaFileManager> {
        private final Map<String, ByteArrayOutputStream> classes;

        Memory(StandardJavaFileManager standard, Map<String, ByteArrayOutputStream> classes) {
            super(standard);
            this.classes = classes;
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location place, String name, JavaFileObject.Kind kind, javax.tools.FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("memory:///" + name), kind) {
                @Override
                public OutputStream openOutputStream() {
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    classes.put(name, bytes);
                    return bytes;
                }
            };
        }
    }

    private static final class Loader extends ClassLoader {
        private final Map<String, ByteArrayOutputStream> classes;

        Loader(Map<String, ByteArrayOutputStream> classes) {
            this.classes = classes;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            ByteArrayOutputStream held = classes.get(name);
            if (held == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = held.toByteArray();
            return defineClass(name, bytes, 0, bytes.length);
        }
    }
}
