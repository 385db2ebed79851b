// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

/** What a process tells another one of its user. The bean is called {@link #NAME}. */
public interface BeanMBean {
    /** The bean's name among those of the process. */
    String NAME = "skein.inspect:type=Inspector";

    /** The version of the operations and of their results. Both processes must have the same. */
    int VERSION = 2;

    /** {@link #VERSION} in this process. */
    int getVersion();

    /** Switches the inspector on. Returns whether it was off. */
    boolean start();

    /** Switches the inspector off. */
    void stop();

    /**
     * A snapshot, see {@link Packing}.
     *
     * @param prove whether the garbage collector is to run before
     */
    byte[] snapshot(boolean prove);

    /** Switches the inspector on, with the steps of blocks recorded or not. */
    void record(boolean on);

    /** What blocks did when in the last so many ms, see {@link Packing}. Needs {@link #record}. */
    byte[] timeline(long lastMillis);

    /**
     * Where blocks park, as EDN {@code {[class state] place}}, as far as the process has the classes.
     *
     * @param wanted as EDN {@code [[class state]]}
     */
    String places(String wanted);
}
