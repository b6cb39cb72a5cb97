plugins {
    id("com.android.application")
}

android {
    namespace = "dev.droidgate.sample.pdftool"
    compileSdk = 36

    defaultConfig {
        applicationId = "dev.droidgate.sample.pdftool"
        minSdk = 26
        targetSdk = 29
        versionCode = 1
        versionName = "1.0"
    }

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }
}
