import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.StringJoiner;
import org.jetbrains.kotlin.cli.common.messages.MessageCollector;
import org.jetbrains.kotlin.cli.jvm.compiler.EnvironmentConfigFiles;
import org.jetbrains.kotlin.cli.jvm.compiler.KotlinCoreEnvironment;
import org.jetbrains.kotlin.com.intellij.openapi.util.Disposer;
import org.jetbrains.kotlin.com.intellij.psi.PsiElement;
import org.jetbrains.kotlin.com.intellij.psi.PsiErrorElement;
import org.jetbrains.kotlin.com.intellij.psi.util.PsiTreeUtil;
import org.jetbrains.kotlin.config.CommonConfigurationKeys;
import org.jetbrains.kotlin.config.CompilerConfiguration;
import org.jetbrains.kotlin.psi.*;

/** Prints what kotlinc's parser sees in Kotlin texts: a line of four signs for each, then its errors and heads. */
public class KotlinHeads {
    public static void main(String[] arguments) throws Exception {
        var configuration = new CompilerConfiguration();
        configuration.put(
                CommonConfigurationKeys.MESSAGE_COLLECTOR_KEY, MessageCollector.Companion.getNONE());
        var environment =
                KotlinCoreEnvironment.createForProduction(
                        Disposer.newDisposable(), configuration, EnvironmentConfigFiles.JVM_CONFIG_FILES);
        var factory = new KtPsiFactory(environment.getProject(), false);
        var input = new String(System.in.readAllBytes(), StandardCharsets.US_ASCII);
        var output = new StringBuilder();
        for (var line : input.split("\n")) {
            var text = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
            output.append("====\n");
            print(factory.createFile("a.kt", text), output);
        }
        System.out.write(output.toString().getBytes(StandardCharsets.UTF_8));
        System.out.flush();
        System.exit(0);
    }

    private static void print(KtFile file, StringBuilder output) {
        for (var error : PsiTreeUtil.collectElementsOfType(file, PsiErrorElement.class)) {
            output.append("error\t").append(flat(error.getErrorDescription())).append('\n');
        }
        for (var function : PsiTreeUtil.collectElementsOfType(file, KtNamedFunction.class)) {
            if (isMember(function)) {
                var row = new StringJoiner("\t").add("fun").add(around(function)).add(function.getName());
                row.add(text(function.getReceiverTypeReference())).add(text(function.getTypeReference()));
                row.add(annotations(function));
                row.add(!function.hasBody() ? "" : function.hasBlockBody() ? "{" : "=");
                row.add(text(function.getDocComment()));
                function.getValueParameters().forEach(item -> row.add(parameter(item)));
                output.append(row).append('\n');
            }
        }
        for (var owner : PsiTreeUtil.collectElementsOfType(file, KtClassOrObject.class)) {
            if (isMember(owner) && !(owner instanceof KtEnumEntry)) {
                var row = new StringJoiner("\t").add("class").add(around(owner)).add(owner.getName());
                row.add(owner.getPrimaryConstructor() == null ? "" : "constructor").add(annotations(owner));
                var above = new StringJoiner(", ");
                owner.getSuperTypeListEntries().forEach(item -> above.add(text(item.getTypeReference())));
                row.add(above.toString()).add(text(owner.getDocComment()));
                owner.getPrimaryConstructorParameters().forEach(item -> row.add(parameter(item)));
                output.append(row).append('\n');
            }
        }
        for (var property : PsiTreeUtil.collectElementsOfType(file, KtProperty.class)) {
            if (isMember(property) && property.getName() != null) {
                var row = new StringJoiner("\t").add("val").add(around(property)).add(property.getName());
                row.add(text(property.getTypeReference())).add(text(property.getInitializer()));
                output.append(row).append('\n');
            }
        }
    }

    private static String parameter(KtParameter item) {
        var kind = item.hasValOrVar() ? "val " : "";
        var value = item.hasDefaultValue() ? " =" : "";
        return kind + item.getName() + ": " + text(item.getTypeReference()) + value;
    }

    private static String annotations(KtAnnotated declared) {
        var names = new StringJoiner(" ");
        for (var entry : declared.getAnnotationEntries()) {
            names.add(text(entry.getTypeReference()).replaceFirst("<.*", ""));
        }
        return names.toString();
    }

    private static String around(PsiElement element) {
        var names = new StringJoiner(".");
        for (var item = element.getParent(); item != null; item = item.getParent()) {
            if (item instanceof KtClassOrObject) {
                names.add(((KtClassOrObject) item).getName());
            }
        }
        return names.toString();
    }

    /** Returns whether a declaration is outside of any body of a function, and of any entry of an enum. */
    private static boolean isMember(PsiElement element) {
        var around = element.getParent();
        while (around instanceof KtClassBody
                || (around instanceof KtClassOrObject && !(around instanceof KtEnumEntry))) {
            around = around.getParent();
        }
        return around instanceof KtFile;
    }

    private static String text(PsiElement element) {
        return element == null ? "" : flat(element.getText());
    }

    private static String flat(String text) {
        return text.replaceAll("\\s+", " ").trim();
    }
}
