package dev.droidgate.sample.pdftool;

/** A pointer to an object by its number; generations are ignored. */
final class PdfRef {
    final int number;

    PdfRef(int number) {
        this.number = number;
    }
}
