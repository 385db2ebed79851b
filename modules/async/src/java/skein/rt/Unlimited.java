// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/** Makes a channel one in which any number of takes and puts may wait. It is for permits and results. */
public final class Unlimited extends Role {
    private final Object label;

    /** @param label data of the channel's maker, or null */
    public Unlimited(Object label) {
        this.label = label;
    }

    Object label() {
        return label;
    }
}
