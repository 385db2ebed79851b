// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/** A channel in which any number of takes and puts may wait. It is for permits and results. */
public class UnlimitedChannel extends Channel {
    private final Object label;

    /**
     * @param buffer where values wait, or null for none
     * @param label data of its maker, or null
     */
    public UnlimitedChannel(Buffer buffer, Object label) {
        super(buffer);
        this.label = label;
    }

    /** Returns the data of its maker, or null. */
    public final Object label() {
        return label;
    }

    @Override
    final boolean unlimited() {
        return true;
    }
}
