import com.android.apksig.ApkSigner;
import com.android.apksig.ApkVerifier;
import com.android.apksig.SigningCertificateLineage;
import com.android.apksig.apk.ApkFormatException;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.HexFormat;
import java.util.List;

/** Runs apksig: {@code verify FILE...} or {@code sign IN OUT ROTATION_SDK OLD NEW}, keys as NAME.pk8 and NAME.pem. */
public final class ApkSigRunner {
    private ApkSigRunner() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("verify")) {
            for (int at = 1; at < arguments.length; at++) {
                System.out.println(verdict(new File(arguments[at])));
            }
        } else {
            sign(arguments);
        }
    }

    /** Returns whether Android 9 and later take the file, then SDK=DIGEST of each signer with the SDK it starts at. */
    private static String verdict(File file) throws Exception {
        ApkVerifier.Result result;
        try {
            result = new ApkVerifier.Builder(file).setMinCheckedPlatformVersion(28).build().verify();
        } catch (ApkFormatException error) {
            return "false";
        }
        // It takes a file whose v3.1 signer it found wrong for verified, as v3 is right.
        boolean wrong = result.getV31SchemeSigners().stream().anyMatch(signer -> signer.containsErrors());
        if (!result.isVerified() || wrong) {
            return "false";
        }
        StringBuilder line = new StringBuilder("true");
        if (result.getV3SchemeSigners().isEmpty() && result.getV31SchemeSigners().isEmpty()) {
            for (X509Certificate certificate : result.getSignerCertificates()) {
                line.append(signer(28, certificate));
            }
        }
        for (ApkVerifier.Result.V3SchemeSignerInfo signer : result.getV3SchemeSigners()) {
            line.append(signer(signer.getMinSdkVersion(), signer.getCertificate()));
        }
        for (ApkVerifier.Result.V3SchemeSignerInfo signer : result.getV31SchemeSigners()) {
            int later = signer.getRotationTargetsDevRelease() ? 1 : 0;
            line.append(signer(signer.getMinSdkVersion() + later, signer.getCertificate()));
        }
        return line.toString();
    }

    private static String signer(int sdk, X509Certificate certificate) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded());
        return " " + sdk + "=" + HexFormat.of().formatHex(digest);
    }

    private static void sign(String[] arguments) throws Exception {
        PrivateKey[] keys = {key(arguments[4]), key(arguments[5])};
        X509Certificate[] certificates = {certificate(arguments[4]), certificate(arguments[5])};
        SigningCertificateLineage lineage = new SigningCertificateLineage.Builder(
                new SigningCertificateLineage.SignerConfig.Builder(keys[0], certificates[0]).build(),
                new SigningCertificateLineage.SignerConfig.Builder(keys[1], certificates[1]).build()).build();
        List<ApkSigner.SignerConfig> signers = List.of(
                new ApkSigner.SignerConfig.Builder("old", keys[0], List.of(certificates[0])).build(),
                new ApkSigner.SignerConfig.Builder("new", keys[1], List.of(certificates[1])).build());
        new ApkSigner.Builder(signers).setInputApk(new File(arguments[1])).setOutputApk(new File(arguments[2]))
                .setMinSdkVersion(24).setSigningCertificateLineage(lineage)
                .setMinSdkVersionForRotation(Integer.parseInt(arguments[3])).build().sign();
    }

    private static PrivateKey key(String name) throws Exception {
        byte[] content = Files.readAllBytes(Path.of(name + ".pk8"));
        return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(content));
    }

    private static X509Certificate certificate(String name) throws Exception {
        byte[] content = Files.readAllBytes(Path.of(name + ".pem"));
        return (X509Certificate) CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(content));
    }
}
