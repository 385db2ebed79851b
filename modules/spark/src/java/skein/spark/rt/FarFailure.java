// SPDX-License-Identifier: Apache-2.0
package skein.spark.rt;

import clojure.lang.ExceptionInfo;
import clojure.lang.Keyword;
import clojure.lang.PersistentVector;
import clojure.lang.RT;
import clojure.lang.Symbol;
import java.util.List;

/** The exceptions of this package, as data: doc/errors.md has an entry for each. */
final class FarFailure {
    /** Only the two ends of a long path are shown. */
    private static final int MAX_PATH = 12;

    private FarFailure() {}

    private static ExceptionInfo of(String error, String message, Object... data) {
        return new ExceptionInfo(
                message, RT.map(data).assoc(Keyword.intern("skein", "error"), Keyword.intern("skein", error)));
    }

    static ExceptionInfo unsendable(Object value, List<Object> path, String why) {
        PersistentVector place = place(path);
        return of(
                "unsendable",
                "Can't send " + Names.PREVIEW.invoke(value) + " ("
                        + value.getClass().getName() + ") to another process"
                        + (place.count() == 0 ? "" : "; it is at " + Names.PREVIEW.invoke(place)) + ". " + why,
                Keyword.intern("class"),
                value.getClass().getName(),
                Keyword.intern("path"),
                place);
    }

    static ExceptionInfo tooDeep(List<Object> path) {
        PersistentVector place = place(path);
        return of(
                "unsendable",
                "Can't send a value that is nested " + path.size() + " levels deep, at " + Names.PREVIEW.invoke(place)
                        + ": " + Encoder.MAX_DEPTH + " is the limit. Send it as a flat collection.",
                Keyword.intern("path"),
                place,
                Keyword.intern("depth"),
                path.size());
    }

    static ExceptionInfo tooLarge(long max) {
        return of(
                "partial-too-large",
                "A value to send is larger than " + max
                        + " bytes. Let the fold keep less, or set a greater :max-result-bytes.",
                Keyword.intern("max-result-bytes"),
                max);
    }

    static ExceptionInfo missing(Exception cause) {
        ExceptionInfo error = of(
                "far-namespace-missing",
                "A value that was sent needs a class that can't be loaded here: " + cause
                        + ". Ship its jar, by :jars of connect.");
        error.initCause(cause);
        return error;
    }

    /** Stands for an exception of class {@code type} that could not be sent as it is. */
    static ExceptionInfo broken(String type, String message, Object data, Throwable cause) {
        return new ExceptionInfo(
                message == null ? type : message,
                RT.map(
                        Keyword.intern("skein", "error"),
                        Keyword.intern("skein", "unsendable"),
                        Keyword.intern("class"),
                        type,
                        Keyword.intern("data"),
                        data),
                cause);
    }

    /** Returns the path with only such places as can be sent themselves. */
    static PersistentVector place(List<Object> path) {
        Object[] places = path.stream()
                .map(place -> place == null
                                || place instanceof Keyword
                                || place instanceof String
                                || place instanceof Number
                                || place instanceof Symbol
                                || place instanceof Boolean
                        ? place
                        : Names.PREVIEW.invoke(place))
                .toArray();
        if (places.length <= MAX_PATH) return PersistentVector.create(places);
        Object[] ends = new Object[MAX_PATH + 1];
        System.arraycopy(places, 0, ends, 0, MAX_PATH / 2);
        ends[MAX_PATH / 2] = Symbol.intern("...");
        System.arraycopy(places, places.length - MAX_PATH / 2, ends, MAX_PATH / 2 + 1, MAX_PATH / 2);
        return PersistentVector.create(ends);
    }
}
