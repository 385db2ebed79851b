// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/** A channel in which any number of takes and puts may wait: for permits and results, which nobody produces too fast. */
public class UnlimitedChannel extends Channel {
    private final Object label;

    /**
     * @param buffer where values wait, or null for none
     * @param label what its maker wants to know of it later, or null
     */
    public UnlimitedChannel(Buffer buffer, Object label) {
        super(buffer);
        this.label = label;
    }

    /** What its maker wanted to know. */
    public final Object label() {
        return label;
    }

    @Override
    final boolean unlimited() {
        return true;
    }
}
