// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import skein.rt.Channel;

/** The numbers and labels of channels. None is kept alive by that. */
public final class ChannelNames {
    private static final Map<Channel, Long> IDS = new WeakHashMap<>(); // guarded by the class
    private static final Map<Channel, String> LABELS = new WeakHashMap<>(); // guarded by the class
    private static long lastId; // guarded by the class

    private ChannelNames() {}

    /** The number of the channel, which no other of the process has. */
    public static synchronized long id(Channel channel) {
        return IDS.computeIfAbsent(channel, c -> ++lastId);
    }

    /** The label of the channel, or null. */
    public static synchronized String label(Channel channel) {
        return LABELS.isEmpty() ? null : LABELS.get(channel); // most programs have none
    }

    /** Gives the channel a label, or with null takes it back. */
    public static synchronized void label(Channel channel, String label) {
        if (label == null) LABELS.remove(channel);
        else LABELS.put(channel, label);
    }

    /** The channels that have a label. */
    public static synchronized List<Channel> labelled() {
        return new ArrayList<>(LABELS.keySet());
    }
}
