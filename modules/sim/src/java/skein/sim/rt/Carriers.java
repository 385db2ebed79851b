// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.concurrent.Executor;
import skein.rt.World;

/**
 * Virtual threads with a scheduler of our own. The JDK's own tests make such threads in this way; up to JDK 25 there is no
 * public way. This needs {@code --add-opens java.base/java.lang=ALL-UNNAMED}. Threads that such a thread starts inherit
 * its scheduler.
 */
public final class Carriers {
    private static final Constructor<?> BUILDER;
    private static final MethodHandle SCHEDULER; // of a virtual thread
    private static final MethodHandle ON_WAITING_LIST; // of a virtual thread; null before JDK 24
    private static final MethodHandle BLOCK_PERMIT; // likewise
    private static final ClassValue<MethodHandle> THREAD_OF = new ClassValue<>() {
        @Override
        protected MethodHandle computeValue(Class<?> type) {
            return threadIn(type);
        }
    };

    static {
        Constructor<?> builder = null;
        MethodHandle scheduler = null;
        MethodHandle onWaitingList = null;
        MethodHandle blockPermit = null;
        try {
            builder = Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
                    .getDeclaredConstructor(Executor.class);
            builder.setAccessible(true);
            Class<?> virtual = Class.forName("java.lang.VirtualThread");
            scheduler = getter(virtual, "scheduler", Object.class, Thread.class);
            if (hasField(virtual, "onWaitingList")) {
                onWaitingList = getter(virtual, "onWaitingList", boolean.class, Thread.class);
                blockPermit = getter(virtual, "blockPermit", boolean.class, Thread.class);
            }
        } catch (ReflectiveOperationException
                | RuntimeException e) { // not opened, or another JDK: only the lite mode works
            builder = null;
        }
        BUILDER = builder;
        SCHEDULER = scheduler;
        ON_WAITING_LIST = onWaitingList;
        BLOCK_PERMIT = blockPermit;
        if (builder != null) {
            World.ofThreads(Carriers::worldOf);
            startPollers();
        }
    }

    private Carriers() {}

    /**
     * The JDK starts the virtual threads that watch its sockets when the first socket is waited for. They must not inherit
     * the scheduler of a simulation: once it had ended, no socket of the JVM would be watched.
     */
    private static void startPollers() {
        try {
            Class.forName("sun.nio.ch.Poller");
        } catch (ClassNotFoundException | LinkageError e) { // another JDK has another way
        }
    }

    private static boolean hasField(Class<?> type, String name) {
        for (Field field : type.getDeclaredFields()) if (field.getName().equals(name)) return true;
        return false;
    }

    private static MethodHandle getter(Class<?> type, String name, Class<?> result, Class<?> argument)
            throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return MethodHandles.lookup()
                .unreflectGetter(field)
                .asType(java.lang.invoke.MethodType.methodType(result, argument));
    }

    /** Returns whether simulations can have threads in this JVM. */
    public static boolean available() {
        return BUILDER != null;
    }

    private static World worldOf(Thread thread) {
        try {
            return (Object) SCHEDULER.invokeExact(thread) instanceof World world ? world : null;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Returns a virtual thread, not started, that {@code scheduler} runs. */
    static Thread virtual(Executor scheduler, Runnable task, String name) {
        try {
            return ((Thread.Builder.OfVirtual) BUILDER.newInstance(scheduler))
                    .name(name)
                    .unstarted(task);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e); // it was made accessible
        }
    }

    /** Returns the thread of {@code continuation}, which the JDK gave to a scheduler, or null if it is not known. */
    static Thread threadOf(Runnable continuation) {
        MethodHandle getter = THREAD_OF.get(continuation.getClass());
        try {
            return getter == null ? null : (Thread) getter.invoke(continuation);
        } catch (Throwable e) {
            return null;
        }
    }

    /** Reads the thread that a lambda of VirtualThread holds. */
    private static MethodHandle threadIn(Class<?> type) {
        try {
            for (Field field : type.getDeclaredFields()) {
                if (!Thread.class.isAssignableFrom(field.getType())) continue;
                field.setAccessible(true);
                return MethodHandles.lookup().unreflectGetter(field);
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            return null;
        }
        return null;
    }

    /**
     * Returns whether the JDK is about to wake {@code thread}, which waited for a monitor: it takes the thread from its list, gives it
     * the permit, changes its state and then calls the scheduler.
     */
    static boolean isBeingUnblocked(Thread thread) {
        try {
            return ON_WAITING_LIST != null
                    && ((boolean) ON_WAITING_LIST.invokeExact(thread)
                            || (boolean) BLOCK_PERMIT.invokeExact(thread)
                            || thread.getState() != Thread.State.BLOCKED);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
