plugins {
    id("com.android.application")
}

android {
    namespace = "dev.droidgate.sample.notes"
    compileSdk = 36

    defaultConfig {
        applicationId = "dev.droidgate.sample.notes"
        minSdk = 36
        targetSdk = 36
        versionCode = 1
        versionName = "1.0"
    }

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }
}
