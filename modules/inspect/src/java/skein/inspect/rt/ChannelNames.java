// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

import java.util.Map;
import java.util.WeakHashMap;
import skein.rt.Channel;

/** The numbers of channels. They keep no channel alive. */
public final class ChannelNames {
    private static final Map<Channel, Long> IDS = new WeakHashMap<>(); // guarded by the class
    private static long lastId; // guarded by the class

    private ChannelNames() {}

    /** Returns the number of the channel, which is unique in the process. */
    public static synchronized long id(Channel channel) {
        return IDS.computeIfAbsent(channel, c -> ++lastId);
    }
}
