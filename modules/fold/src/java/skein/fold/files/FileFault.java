// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import clojure.lang.ExceptionInfo;
import clojure.lang.Keyword;
import clojure.lang.PersistentArrayMap;
import java.io.EOFException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.zip.ZipException;

/** What can go wrong with a file, as exceptions that are data. */
final class FileFault {
    private FileFault() {}

    private static RuntimeException fault(Keyword error, String message, String path, Object... more) {
        return fault(null, error, message, path, more);
    }

    private static RuntimeException fault(Throwable cause, Keyword error, String message, String path, Object... more) {
        Object[] data = new Object[4 + more.length];
        data[0] = Keyword.intern("skein", "error");
        data[1] = error;
        data[2] = Keyword.intern("path");
        data[3] = path;
        System.arraycopy(more, 0, data, 4, more.length);
        return new ExceptionInfo(message, PersistentArrayMap.createAsIfByAssoc(data), cause);
    }

    /** The current thread was interrupted while it read {@code path}. */
    static RuntimeException interrupted(String path) {
        Thread.interrupted();
        return FileFault.<RuntimeException>raise(new InterruptedException("interrupted while reading " + path));
    }

    static RuntimeException missing(String path) {
        return fault(
                Keyword.intern("skein", "file-missing"),
                "There is no file " + path + ". Check the spelling, and the folder in which the program runs.",
                path);
    }

    static RuntimeException directory(String path) {
        return fault(
                Keyword.intern("skein", "file-is-directory"),
                path + " is a directory. Name the files in it, as in " + path + "/*.log.",
                path);
    }

    static RuntimeException truncated(String path, long position) {
        return fault(
                Keyword.intern("skein", "file-truncated"),
                path + " ended at byte " + position
                        + ", earlier than when the fold began. Was it truncated or rotated meanwhile?",
                path,
                Keyword.intern("position"),
                position);
    }

    /** A compressed file ended too early, when it had given {@code unpacked} bytes. */
    private static RuntimeException cutOff(String path, long unpacked) {
        return fault(
                Keyword.intern("skein", "file-truncated"),
                path + " is cut off: what is compressed in it ends early, after " + unpacked
                        + " unpacked bytes. Was it written and" + " copied to its end?",
                path,
                Keyword.intern("unpacked"),
                unpacked);
    }

    static RuntimeException tooLong(String path, long position) {
        return fault(
                Keyword.intern("skein", "record-too-long"),
                "A record in " + path + " that begins at byte " + position + " does not fit in memory or in an array."
                        + " Is the delimiter right?",
                path,
                Keyword.intern("position"),
                position);
    }

    static RuntimeException noUnpacker(String path, String library) {
        return fault(
                Keyword.intern("skein", "no-unpacker"),
                "To read " + path + " takes " + library + " on the class path. Add it, or unpack the file.",
                path,
                Keyword.intern("library"),
                library);
    }

    /** The error for {@code e}; of an interrupt an InterruptedException, and the thread is then not interrupted any more. */
    static RuntimeException of(Exception e, String path, long position) {
        if (e instanceof ExceptionInfo known) return known;
        if (e instanceof ClosedByInterruptException || e instanceof InterruptedIOException) throw interrupted(path);
        if (e instanceof NoSuchFileException) return missing(path);
        // The second is what zstd-jni says.
        if (e instanceof EOFException || "Truncated source".equals(e.getMessage())) return cutOff(path, position);
        String why = e instanceof AccessDeniedException
                ? "its permissions forbid it"
                : e instanceof ZipException
                        ? "it is no gzip file, or a damaged one (" + e.getMessage() + ")"
                        : e instanceof FileSystemException f && f.getReason() != null
                                ? f.getReason()
                                : e instanceof RuntimeException
                                        ? "it is damaged (" + e + ")"
                                        : String.valueOf(e.getMessage());
        return fault(
                e,
                Keyword.intern("skein", "file-unreadable"),
                "Can't read " + path + ": " + why + ".",
                path,
                Keyword.intern("position"),
                position,
                Keyword.intern("reason"),
                why);
    }

    /** Throws {@code t}, which may be a checked exception, as Clojure's functions do. */
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> RuntimeException raise(Throwable t) throws T {
        throw (T) t;
    }
}
