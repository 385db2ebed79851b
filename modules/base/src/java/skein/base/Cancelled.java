// SPDX-License-Identifier: Apache-2.0
package skein.base;

import clojure.lang.IExceptionInfo;
import clojure.lang.IPersistentMap;
import clojure.lang.Keyword;
import clojure.lang.PersistentArrayMap;
import java.util.concurrent.CancellationException;

/** Thrown in work that is cancelled. It can be caught as Java's exception, and has data as Clojure's. */
public final class Cancelled extends CancellationException implements IExceptionInfo {
    private static final long serialVersionUID = 1;
    private static final Keyword ERROR = Keyword.intern("skein", "error");
    private static final Keyword CANCELLED = Keyword.intern("skein", "cancelled");
    private static final Keyword WHY = Keyword.intern(null, "why");

    @SuppressWarnings("serial") // Clojure's maps are serializable, though their interface does not say so
    private final IPersistentMap data;

    /**
     * @param why {@code :failure}, {@code :timeout}, {@code :closed} or {@code :outside}
     * @param more further data, or null
     * @param cause may be null
     */
    public Cancelled(String message, Keyword why, IPersistentMap more, Throwable cause) {
        super(message);
        this.data = (more == null ? PersistentArrayMap.EMPTY : more)
                .assoc(ERROR, CANCELLED)
                .assoc(WHY, why);
        initCause(cause);
    }

    /** Makes one for work that other code has cancelled, as a future. */
    public static Cancelled fromOutside(String message) {
        return new Cancelled(message + " [:skein/cancelled]", Keyword.intern(null, "outside"), null, null);
    }

    /** Makes one for work whose time is up. */
    public static Cancelled late() {
        return new Cancelled(
                "Cancelled: its time is up. [:skein/cancelled]", Keyword.intern(null, "timeout"), null, null);
    }

    @Override
    public IPersistentMap getData() {
        return data;
    }
}
