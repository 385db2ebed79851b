// SPDX-License-Identifier: Apache-2.0
package skein.inspect.heap;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import skein.rt.HeapNames;

/**
 * The objects that a program could still use, if threads that wait for ever use nothing.
 *
 * <p>A waiting thread holds the object that it waits for in its stack, its thread object or its thread-locals. So these are no
 * roots at first. They become roots when another object reaches something that could end the wait or interrupt the thread.
 * This repeats until nothing more is reached. It is the rule of Go's collector for leaked goroutines (golang/go#74609).
 *
 * <ul>
 *   <li>RE1 Everything that a running thread could use is reached: from classes, from native code and from the stacks of all
 *       threads that are not given as waiting, through all references. Weak references count like strong ones.
 *   <li>RE2 Only the references in {@code OVER}, through which no code ends a wait, and those in the classes {@code OPAQUE} do
 *       not count.
 * </ul>
 */
public final class Reach {
    /**
     * Fields, as {@code class.field}, through which no code uses or wakes an object: code that interrupts or unparks a thread
     * finds the thread elsewhere.
     */
    private static final Set<String> OVER = Set.of(
            // The object that a thread waits for. Only tools read this field.
            "java.lang.Thread.parkBlocker",
            // The thread that did something, for comparison with the current thread.
            "clojure.lang.Var$TBox.thread",
            "java.util.concurrent.locks.AbstractOwnableSynchronizer.exclusiveOwnerThread",
            "java.util.concurrent.FutureTask$WaitNode.thread",
            // The thread to unpark after an event. The source of the event must be reached in another way.
            "java.util.concurrent.locks.AbstractQueuedSynchronizer$Node.waiter",
            "java.util.concurrent.CompletableFuture$Signaller.thread",
            HeapNames.THREAD_WAITER + "." + HeapNames.THREAD_WAITER_THREAD,
            // The thread that runs blocks. Only that thread uses these fields, and other threads interrupt it only to
            // cancel.
            HeapNames.RUNNER + "." + HeapNames.RUNNER_BLOCK,
            HeapNames.RUNNER + "." + HeapNames.RUNNER_LENDER,
            HeapNames.RUNNER + "." + HeapNames.RUNNER_OWN,
            HeapNames.DETACHED + "." + HeapNames.DETACHED_THREAD,
            HeapNames.WORKER_RUNNER + "." + HeapNames.WORKER_RUNNER_THREAD,
            // Weak maps from waiters, for reports alone.
            HeapNames.SOURCE_CHANNEL + "." + HeapNames.SOURCE_CHANNEL_PENDING,
            HeapNames.ASYNC_TRACE + "." + HeapNames.ASYNC_TRACE_SPAWNERS,
            HeapNames.FAILURES + "." + HeapNames.FAILURES_FAILED,
            HeapNames.FAILURES + "." + HeapNames.FAILURES_GIVEN_NIL);

    /** Classes whose fields don't count: those of the inspector, and the JDK's list of virtual threads, which is for dumps. */
    private static final Set<String> OPAQUE = Set.of(
            "skein.inspect.rt.Entry",
            "skein.inspect.rt.OwnEntry",
            "skein.inspect.rt.ChannelNames",
            "skein.inspect.rt.Registry",
            "skein.inspect.rt.Registry$Waiting",
            "jdk.internal.vm.SharedThreadContainer",
            "jdk.internal.vm.ThreadContainers",
            "jdk.internal.vm.ThreadContainers$RootContainer$CountingRootContainer",
            "jdk.internal.vm.ThreadContainers$RootContainer$TrackingRootContainer");

    private final HeapFile file;
    private final BitSet reached; // by slot
    private final BitSet keys; // slots of the keys of opens
    private final Map<Long, List<Integer>> opens =
            new HashMap<>(); // from an object to the threads whose waits may end once it is reached
    private final Map<Integer, List<Long>> held =
            new HashMap<>(); // by waiting thread, what its stack, its object and its thread-locals hold
    private int[] todo = new int[1 << 12]; // slots, as a stack
    private int n;

    private Reach(HeapFile file) {
        this.file = file;
        reached = new BitSet(file.index.slots());
        keys = new BitSet(file.index.slots());
    }

    /**
     * Returns the objects that can be reached in a file.
     *
     * @param waiting from each thread that waits without a limit to the object that must be reached for its wait to end
     */
    public static Reach of(HeapFile file, Map<Long, Long> waiting) {
        Reach reach = new Reach(file);
        waiting.forEach((thread, blocker) -> {
            int number = file.threadNumber(thread);
            reach.held.put(number, new ArrayList<>());
            reach.opensOn(thread, number);
            reach.opensOn(blocker, number);
        });
        reach.mark();
        return reach;
    }

    /** Returns whether the program could still use the object. */
    public boolean isReached(long id) {
        int slot = file.index.find(id);
        return slot >= 0 && reached.get(slot);
    }

    private void opensOn(long id, int thread) {
        keys.set(file.index.find(id));
        opens.computeIfAbsent(id, key -> new ArrayList<>()).add(thread);
    }

    private void mark() {
        for (HeapFile.Root root : file.roots) {
            List<Long> of = held.get(root.thread());
            if (of == null) push(root.object());
            else of.add(root.object());
        }
        for (Type type : file.types()) push(type.id);
        while (n > 0) follow(file.index.place(todo[--n]));
    }

    private void push(long id) {
        int slot = file.index.find(id);
        if (slot < 0 || reached.get(slot)) return;
        reached.set(slot);
        if (n == todo.length) todo = Arrays.copyOf(todo, n * 2);
        todo[n++] = slot;
        if (keys.get(slot)) opens.get(id).forEach(this::release);
    }

    /** Follows what a waiting thread holds, since its wait may end. Its roots that come later are not kept back. */
    private void release(int thread) {
        List<Long> of = held.remove(thread);
        if (of != null) of.forEach(this::push);
    }

    private void follow(long place) {
        MappedFile bytes = file.bytes;
        switch (bytes.u1(place)) {
            case HeapFile.CLASS -> {
                Type type = file.typeOfClass(bytes.i8(place + 1));
                push(type.loader);
                if (OPAQUE.contains(type.name)) return;
                for (Type.Field f : type.statics) if (!OVER.contains(type.name + "." + f.name())) push(f.value());
            }
            case HeapFile.INSTANCE -> {
                Type type = file.typeAt(place);
                if (type == null || OPAQUE.contains(type.name)) return;
                for (int offset : type.followed(OVER::contains)) push(bytes.i8(place + HeapFile.BODY + offset));
            }
            case HeapFile.OBJECTS -> {
                long elements = bytes.u4(place + 13);
                for (long i = 0; i < elements; i++) push(bytes.i8(place + HeapFile.BODY + 8 * i));
            }
            default -> {} // numbers
        }
    }
}
