// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IPersistentMap;
import clojure.lang.Keyword;
import clojure.lang.RT;
import java.util.Arrays;
import java.util.regex.Pattern;

/** Exceptions for calls that are wrong. */
final class Refusal {
    private static final Pattern INNER = Pattern.compile("^(skein|clojure|java|jdk)\\.");

    private Refusal() {}

    /** Returns data with {@code :skein/error} and further keys and values. */
    static IPersistentMap data(String error, Object... more) {
        IPersistentMap data = RT.map(Keyword.intern("skein", "error"), Keyword.intern("skein", error));
        for (int i = 0; i < more.length; i += 2) data = data.assoc(Keyword.intern((String) more[i]), more[i + 1]);
        return data;
    }

    /**
     * Returns {@code thrown} with a stack trace that begins at the code that called Skein, as {@code skein.impl.error/fail!}
     * does. If no caller is on the stack, all frames stay. {@code fail!} is in Clojure, because it must run on a Java that is
     * too old to load this class.
     */
    static <T extends Throwable> T fromCaller(T thrown) {
        StackTraceElement[] trace = thrown.getStackTrace();
        for (int i = 0; i < trace.length; i++) {
            String place = trace[i].getClassName();
            if (place.contains("_test$") || !INNER.matcher(place).find()) {
                thrown.setStackTrace(Arrays.copyOfRange(trace, i, trace.length));
                break;
            }
        }
        return thrown;
    }
}
