// SPDX-License-Identifier: Apache-2.0
package skein.spark.rt;

import clojure.lang.Keyword;
import clojure.lang.RT;
import java.io.Serializable;
import java.util.Iterator;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import scala.runtime.AbstractFunction1;

/** The function that Spark runs on each partition. It holds and returns only bytes, so that nothing else travels. */
public final class PartTask extends AbstractFunction1<scala.collection.Iterator<Object>, Object>
        implements Serializable {
    private static final long serialVersionUID = 1;

    private final byte[] request;
    /** Whether a partition has one element, which says what to fold. Otherwise its elements are folded. */
    private final boolean piece;

    /**
     * @param request see skein.spark.far/run
     * @param piece whether a partition's only element is the bytes of a call that returns a source
     */
    public PartTask(byte[] request, boolean piece) {
        this.request = request;
        this.piece = piece;
    }

    @Override
    public Object apply(scala.collection.Iterator<Object> partition) {
        Object source = piece
                ? partition.next()
                : new Iterator<Object>() {
                    @Override
                    public boolean hasNext() {
                        return partition.hasNext();
                    }

                    @Override
                    public Object next() {
                        return partition.next();
                    }
                };
        return run(
                request,
                source,
                RT.map(
                        Keyword.intern("executor"), SparkEnv.get().executorId(),
                        Keyword.intern("attempt"), TaskContext.get().attemptNumber()));
    }

    /** Returns what skein.spark.far/run returns, with this class's loader as the thread's, since it knows the user's code. */
    public static byte[] run(byte[] request, Object source, Object where) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(PartTask.class.getClassLoader());
        try {
            return (byte[]) Names.var("skein.spark.far/run").invoke(request, source, where);
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
