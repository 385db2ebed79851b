// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/** The names that the program has given to channels, scopes and other objects, for people to read. They keep no object alive. */
public final class Labels {
    private static final Map<Object, String> LABELS = new WeakHashMap<>(); // guarded by the class

    private Labels() {}

    /** Returns the label of the object, or null. */
    public static synchronized String of(Object x) {
        return LABELS.isEmpty() ? null : LABELS.get(x); // most programs have none
    }

    /** Gives the object a label. With null, removes the label. */
    public static synchronized void set(Object x, String label) {
        if (label == null) LABELS.remove(x);
        else LABELS.put(x, label);
    }

    /** Returns the objects that have a label. */
    public static synchronized List<Object> labelled() {
        return new ArrayList<>(LABELS.keySet());
    }
}
