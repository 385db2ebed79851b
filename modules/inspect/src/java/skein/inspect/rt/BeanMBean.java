// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

/** The operations that another process of the same user can call. The bean is called {@link #NAME}. */
public interface BeanMBean {
    /** The bean's name. */
    String NAME = "skein.inspect:type=Inspector";

    /** The version of the operations and of their results. Both processes must have the same version. */
    int VERSION = 2;

    /** Returns {@link #VERSION} of this process. */
    int getVersion();

    /** Switches the inspector on. Returns whether it was off. */
    boolean start();

    /** Switches the inspector off. */
    void stop();

    /**
     * Returns a snapshot, see {@link Packing}.
     *
     * @param prove whether the garbage collector runs first
     */
    byte[] snapshot(boolean prove);

    /** Switches the inspector on, with or without recording the steps of blocks. */
    void record(boolean on);

    /** Returns what blocks did in the last {@code lastMillis} ms, see {@link Packing}. Needs {@link #record}. */
    byte[] timeline(long lastMillis);
}
