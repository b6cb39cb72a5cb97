import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.AccessFlags;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.MethodModel;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Runs the main class ServerClasses on Android's own classes: AndroidLoader FOLDER JAR, ServerClasses and what comes in place of
 * Android's classes in the folder.
 *
 * A native method calls the static one of Natives that is called CLASS_METHOD, without `this`. One that is not
 * there stays native: it throws an UnsatisfiedLinkError with its name, and no behaviour is guessed.
 */
final class AndroidLoader extends URLClassLoader {
    private static final ClassDesc NATIVES = ClassDesc.of("Natives");

    private final Set<String> answered = new HashSet<>();

    private AndroidLoader(List<URL> places) throws IOException {
        super(places.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
        try (InputStream file = getResourceAsStream("Natives.class")) {
            for (MethodModel method : ClassFile.of().parse(file.readAllBytes()).methods()) {
                answered.add(method.methodName().stringValue() + method.methodType().stringValue());
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        List<URL> places = new ArrayList<>();
        for (String argument : arguments) {
            places.add(url(argument));
        }
        new AndroidLoader(places).loadClass("ServerClasses").getMethod("main").invoke(null);
    }

    private static URL url(String path) throws MalformedURLException {
        return Path.of(path).toUri().toURL();
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (file == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] made = linked(file.readAllBytes());
            return defineClass(name, made, 0, made.length);
        } catch (IOException error) {
            throw new ClassNotFoundException(name, error);
        }
    }

    private byte[] linked(byte[] bytes) {
        var model = ClassFile.of().parse(bytes);
        String holder = model.thisClass().asInternalName().replace('/', '_');
        if (!holder.startsWith("Shells$") && model.methods().stream().noneMatch(method -> answer(holder, method) != null)) {
            return bytes;
        }
        return ClassFile.of().transformClass(model, (made, element) -> {
            // A stand-in is made without the methods that it has not: calling one is an AbstractMethodError.
            if (element instanceof AccessFlags flags) {
                made.withFlags(flags.flagsMask() & ~AccessFlag.ABSTRACT.mask());
                return;
            }
            String answer = element instanceof MethodModel method ? answer(holder, method) : null;
            if (answer == null) {
                made.with(element);
                return;
            }
            MethodModel method = (MethodModel) element;
            int flags = method.flags().flagsMask() & ~AccessFlag.NATIVE.mask();
            boolean isStatic = method.flags().has(AccessFlag.STATIC);
            MethodTypeDesc type = method.methodTypeSymbol();
            made.withMethodBody(method.methodName().stringValue(), type, flags,
                    code -> call(code, answer, type, isStatic ? 0 : 1));
        });
    }

    private String answer(String holder, MethodModel method) {
        String name = holder + "_" + method.methodName().stringValue();
        boolean isAnswered = method.flags().has(AccessFlag.NATIVE)
                && answered.contains(name + method.methodType().stringValue());
        return isAnswered ? name : null;
    }

    private static void call(CodeBuilder code, String name, MethodTypeDesc type, int slot) {
        for (ClassDesc parameter : type.parameterList()) {
            TypeKind kind = TypeKind.from(parameter);
            code.loadLocal(kind, slot);
            slot += kind.slotSize();
        }
        code.invokestatic(NATIVES, name, type).return_(TypeKind.from(type.returnType()));
    }
}
