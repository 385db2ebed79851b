// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import skein.rt.Channel;

/** The numbers and labels of channels. They keep no channel alive. */
public final class ChannelNames {
    private static final Map<Channel, Long> IDS = new WeakHashMap<>(); // guarded by the class
    private static final Map<Channel, String> LABELS = new WeakHashMap<>(); // guarded by the class
    private static long lastId; // guarded by the class

    private ChannelNames() {}

    /** Returns the number of the channel, which is unique in the process. */
    public static synchronized long id(Channel channel) {
        return IDS.computeIfAbsent(channel, c -> ++lastId);
    }

    /** Returns the label of the channel, or null. */
    public static synchronized String label(Channel channel) {
        return LABELS.isEmpty() ? null : LABELS.get(channel); // most programs have none
    }

    /** Gives the channel a label. With null, removes the label. */
    public static synchronized void label(Channel channel, String label) {
        if (label == null) LABELS.remove(channel);
        else LABELS.put(channel, label);
    }

    /** Returns the channels that have a label. */
    public static synchronized List<Channel> labelled() {
        return new ArrayList<>(LABELS.keySet());
    }
}
