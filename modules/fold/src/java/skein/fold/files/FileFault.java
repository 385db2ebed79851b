// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import clojure.lang.ExceptionInfo;
import clojure.lang.IPersistentMap;
import clojure.lang.Keyword;
import clojure.lang.PersistentArrayMap;
import clojure.lang.Util;
import java.io.EOFException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.zip.ZipException;

/** The exceptions for errors of files. */
final class FileFault {
    private FileFault() {}

    /** Returns an error whose data are {@code path} and {@code more}, alternating keys and values. */
    private static RuntimeException fault(Throwable cause, Keyword error, String message, String path, Object... more) {
        IPersistentMap data = PersistentArrayMap.EMPTY
                .assoc(Keyword.intern("skein", "error"), error)
                .assoc(Keyword.intern("path"), path);
        for (int i = 0; i < more.length; i += 2) data = data.assoc(Keyword.intern((String) more[i]), more[i + 1]);
        return new ExceptionInfo(message, data, cause);
    }

    /** The current thread was interrupted while it read {@code path}. */
    static RuntimeException interrupted(String path) {
        Thread.interrupted();
        return Util.sneakyThrow(new InterruptedException("interrupted while reading " + path));
    }

    static RuntimeException missing(String path) {
        String message = "There is no file " + path + ". Check the spelling, and the folder in which the program runs.";
        return fault(null, Keyword.intern("skein", "file-missing"), message, path);
    }

    static RuntimeException directory(String path) {
        String message = path + " is a directory. Name the files in it, as in " + path + "/*.log.";
        return fault(null, Keyword.intern("skein", "file-is-directory"), message, path);
    }

    static RuntimeException truncated(String path, long position) {
        String message = path + " ended at byte " + position
                + ", earlier than when the fold began. Was it truncated or rotated meanwhile?";
        return fault(null, Keyword.intern("skein", "file-truncated"), message, path, "position", position);
    }

    /** A compressed file ended too early, after {@code unpacked} unpacked bytes. */
    private static RuntimeException cutOff(String path, long unpacked) {
        String message = path + " is cut off: what is compressed in it ends early, after " + unpacked
                + " unpacked bytes. Was it written and copied to its end?";
        return fault(null, Keyword.intern("skein", "file-truncated"), message, path, "unpacked", unpacked);
    }

    static RuntimeException tooLong(String path, long position) {
        String message = "A record in " + path + " that begins at byte " + position
                + " does not fit in memory or in an array. Is the delimiter right?";
        return fault(null, Keyword.intern("skein", "record-too-long"), message, path, "position", position);
    }

    static RuntimeException noUnpacker(String path, String library) {
        String message = "To read " + path + " takes " + library + " on the class path. Add it, or unpack the file.";
        return fault(null, Keyword.intern("skein", "no-unpacker"), message, path, "library", library);
    }

    /** Returns the error for {@code e}. For an interrupt it is an InterruptedException, and the thread's interrupt is cleared. */
    static RuntimeException of(Exception e, String path, long position) {
        if (e instanceof ExceptionInfo known) return known;
        if (e instanceof ClosedByInterruptException || e instanceof InterruptedIOException) throw interrupted(path);
        if (e instanceof NoSuchFileException) return missing(path);
        // The second is what zstd-jni says.
        if (e instanceof EOFException || "Truncated source".equals(e.getMessage())) return cutOff(path, position);
        String why = reason(e);
        String message = "Can't read " + path + ": " + why + ".";
        return fault(e, Keyword.intern("skein", "file-unreadable"), message, path, "position", position, "reason", why);
    }

    private static String reason(Exception e) {
        if (e instanceof AccessDeniedException) return "its permissions forbid it";
        if (e instanceof ZipException) return "it is no gzip file, or a damaged one (" + e.getMessage() + ")";
        if (e instanceof FileSystemException f && f.getReason() != null) return f.getReason();
        return e instanceof RuntimeException ? "it is damaged (" + e + ")" : String.valueOf(e.getMessage());
    }
}
