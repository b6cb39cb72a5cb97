plugins {
    id("com.android.application")
}

android {
    namespace = "dev.droidgate.sample.clockin"
    compileSdk = 36

    defaultConfig {
        applicationId = "dev.droidgate.sample.clockin"
        minSdk = 26
        targetSdk = 36
        versionCode = 1
        versionName = "1.0"
    }

    sourceSets["main"].java.srcDir("../../mobile-mcp/src/main/java")

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }
}
